"""Answers in many wordings, written by hand, because data sets have only one wording of each."""

from __future__ import annotations

WORDINGS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    (
        "Why did the team move?",
        (
            ("the stadium was too old", "their ground had fallen into disrepair", "an outdated arena"),
            ("few fans came to the games", "attendance was dwindling", "hardly anyone bought tickets"),
            ("the owner wanted more money", "it was more profitable elsewhere", "for financial reasons"),
        ),
    ),
    (
        "When does the harbor museum open?",
        (
            ("9 am", "nine in the morning", "at 9:00"),
            ("10 am", "ten o'clock in the morning"),
            ("in spring", "when winter is over", "from April on"),
        ),
    ),
    (
        "How often are sperm cells made?",
        (
            ("constantly", "it goes on without interruption", "all the time until death"),
            ("every 64 days", "about once in two months"),
            ("only in the breeding season", "once a year when animals mate"),
        ),
    ),
    (
        "What is the bridge made of?",
        (
            ("steel", "an alloy of iron and carbon", "steel girders"),
            ("stone", "blocks of granite", "masonry"),
            ("wood", "timber", "oak beams"),
        ),
    ),
    (
        "What did the queen do after the war?",
        (
            ("she gave up the throne", "she abdicated", "she stepped down in favor of her son"),
            ("she fled abroad", "she went into exile", "she left the country"),
            ("she married again", "she took a second husband"),
        ),
    ),
    (
        "What causes the tides?",
        (
            ("the moon's gravity", "the gravitational pull of the Moon", "attraction by the moon"),
            ("wind", "air blowing over the sea"),
            ("the rotation of the Earth", "the spinning of our planet"),
        ),
    ),
    (
        "How do I return a rental car?",
        (
            ("leave it in the parking lot and drop the key into the box", "park it and put the keys in the drop box"),
            ("hand it over at the counter", "give it back to the staff at the desk"),
            ("call the hotline to have it picked up", "phone the company and they collect it"),
        ),
    ),
    (
        "Who may use the pool?",
        (
            ("hotel guests", "people who stay at the hotel", "anyone with a room here"),
            ("members of the club", "those who have a club membership"),
            ("children under twelve", "kids younger than 12"),
        ),
    ),
    (
        "Why is the sky blue?",
        (
            ("short wavelengths are scattered most", "blue light is scattered more than red", "Rayleigh scattering"),
            ("it reflects the ocean", "it mirrors the color of the sea"),
        ),
    ),
    (
        "What was the general's fate?",
        (
            ("he was executed", "he was put to death", "he faced a firing squad"),
            ("he died of an illness", "he succumbed to typhus", "sickness killed him"),
            ("he was pardoned", "he was set free", "the king forgave him"),
        ),
    ),
    (
        "Where is the town?",
        (
            ("on the coast", "by the sea", "at the seaside"),
            ("in the mountains", "high up in the Alps"),
            ("near the capital", "just outside the capital city"),
        ),
    ),
    (
        "What is the patient's main complaint?",
        (
            ("a headache", "pain in the head", "his head hurts"),
            ("shortness of breath", "he can hardly breathe", "dyspnea"),
            ("a rash", "red spots on the skin"),
        ),
    ),
    (
        "What language is spoken there?",
        (("Dutch", "the language of the Netherlands"), ("German", "Deutsch"), ("French", "the tongue of France")),
    ),
    (
        "How did the company make its money?",
        (
            ("by selling ads", "advertising revenue", "it sold space to advertisers"),
            ("subscriptions", "customers paid a monthly fee"),
            ("it licensed its patents", "royalties from its inventions"),
        ),
    ),
    (
        "What was the treaty about?",
        (
            ("ending the war", "peace between the two countries", "a cease-fire"),
            ("trade", "lower tariffs on goods", "commerce"),
            ("the border", "where one country ends and the other begins", "the frontier line"),
        ),
    ),
    (
        "Why was the flight late?",
        (
            ("bad weather", "a storm", "fog at the airport"),
            ("a technical problem", "an engine had to be repaired"),
            ("the crew was missing", "there was no pilot"),
        ),
    ),
    (
        "What does the warranty cover?",
        (
            ("defects in manufacture", "faults from the factory"),
            ("accidental damage", "if you drop it", "breakage by the owner"),
            ("theft", "if the device is stolen"),
        ),
    ),
    (
        "What is the author's profession?",
        (
            ("physician", "doctor", "she practices medicine"),
            ("lawyer", "attorney", "she is an advocate at court"),
            ("teacher", "she works at a school", "educator"),
        ),
    ),
    (
        "How long is the guarantee?",
        (("two years", "24 months"), ("one year", "twelve months"), ("for life", "as long as the owner lives")),
    ),
    (
        "What happened to the palace?",
        (
            ("it burned down", "it was destroyed by fire", "flames consumed it"),
            ("it was turned into a museum", "today it houses an exhibition"),
            ("it was neglected", "nobody looked after it", "it stood empty"),
        ),
    ),
    (
        "What did the scientist discover?",
        (
            ("a new planet", "a celestial body beyond Saturn"),
            ("a vaccine", "a way to immunize people"),
            ("an element", "a metal that nobody had known"),
        ),
    ),
    (
        "How do the animals survive the winter?",
        (
            ("they hibernate", "they sleep through the cold months"),
            ("they migrate south", "they fly to warmer countries"),
            ("they store food", "they live on supplies hidden in autumn"),
        ),
    ),
    (
        "What is the new law about?",
        (
            ("emissions", "less exhaust from cars", "air pollution"),
            ("privacy", "protection of personal data"),
            ("rents", "what landlords may charge"),
        ),
    ),
    (
        "Who pays for the repair?",
        (
            ("the tenant", "whoever rents the flat", "the person living there"),
            ("the landlord", "the owner of the house"),
            ("the insurance", "the insurer covers it"),
        ),
    ),
)
"""Questions with their answers. Answers in one tuple are the same; answers in different tuples differ."""
