from tests import scrambled

if scrambled.is_on():
    scrambled.scramble()
