"""A small made-up world: several passages for each subject, and questions that one or two passages answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """A question that one passage answers.

    Attributes:
        question: As a user asks it.
        passage: The name of the passage.
        answers: A right answer contains one of these, in lower case.
        elsewhere: The name of a similar passage that does not answer.
    """

    question: str
    passage: str
    answers: tuple[str, ...]
    elsewhere: str


# Title and text of each passage, by name.
PASSAGES: dict[str, tuple[str, str]] = {
    "sigrun": (
        "Ferry Sigrun",
        "The ferry Sigrun sails from Lindvik to Store Holm every hour. She carries 240 passengers and 60 cars. "
        "Her captain is Ole Brandt.",
    ),
    "alma": (
        "Ferry Alma",
        "The ferry Alma sails from Lindvik to Ytre Sund twice a day. "
        "She was built in Gdansk in 1998 and carries no cars.",
    ),
    "ferry prices": (
        "Ferry prices",
        "A single ticket for an adult costs 60 kroner. Children under six travel free of charge. "
        "Dogs pay half the price.",
    ),
    "brandt": (
        "Ole Brandt",
        "Ole Brandt grew up in Hamar, where his parents kept a bakery. He went to sea at sixteen.",
    ),
    "museum": (
        "Harbor Museum",
        "The Harbor Museum was founded in 1931 by the shipowner Ida Holm. From April to October it opens at 9 am.",
    ),
    "museum tickets": (
        "Museum tickets",
        "Admission to the Harbor Museum is 120 kroner. On the first Sunday of each month everybody gets in free.",
    ),
    "holm": (
        "Ida Holm",
        "Ida Holm was born in Bergen in 1882. She owned eleven ships when she retired, and "
        "gave her collection of maps to the city.",
    ),
    "toys": (
        "Museum of Toys",
        "The Museum of Toys in Ortval shows 4,000 dolls. It is closed on Mondays.",
    ),
    "gold policy": (
        "Gold Auto Policy",
        "The Gold Auto Policy pays up to $60 a day for a rental car while your own car is repaired. "
        "The deductible is $250.",
    ),
    "basic policy": (
        "Basic Auto Policy",
        "The Basic Auto Policy does not cover rental cars. Damage by hail is covered with a deductible of $500.",
    ),
    "claims": (
        "Filing a claim",
        "Report an accident within seven days. Send photos of the damage and the police report to the claims office in "
        "Hartford.",
    ),
    "roadside": (
        "Roadside assistance",
        "Roadside assistance tows your car to the nearest workshop. Towing is free up to 100 miles; "
        "each further mile costs $3.",
    ),
    "leave": (
        "Annual leave",
        "Full-time employees get 27 days of annual leave. Unused days expire on 31 March of the following year.",
    ),
    "parental": (
        "Parental leave",
        "Parents share 49 weeks of paid parental leave. It must be announced three months in advance to the personnel "
        "office.",
    ),
    "sick": (
        "Sick leave",
        "A medical certificate is needed from the fourth day of illness on. "
        "Call your manager before 8 am on the first day.",
    ),
    "travel": (
        "Business travel",
        "Trains are booked in second class. Hotels may cost up to 140 euros a night, "
        "and more only if the director agrees.",
    ),
    "amoril": (
        "Amoril",
        "Adults take 500 mg of Amoril twice a day. Do not take it together with milk. Store it below 25 degrees.",
    ),
    "amoril children": (
        "Amoril for children",
        "Children from six to twelve years take 250 mg of Amoril twice a day. It is not meant for younger children.",
    ),
    "amoril effects": (
        "Side effects of Amoril",
        "Headache and nausea are the most common side effects. See a doctor at once if your skin turns yellow.",
    ),
    "velda": (
        "Velda Pharma",
        "Amoril is made by Velda Pharma. The company was sold to the Danish group Nordhav "
        "in 2016 for 90 million euros.",
    ),
    "nordhav": (
        "Nordhav",
        "Nordhav has 3,200 employees. Its headquarters are in Aarhus, next to the railway station.",
    ),
    "x200": (
        "Norden X200",
        "The dishwasher Norden X200 uses 9 liters of water for a wash. Its warranty lasts two years "
        "and ends if the case is opened.",
    ),
    "x300": (
        "Norden X300",
        "The Norden X300 is quieter than the X200, at 38 decibels. It comes with a warranty of five years.",
    ),
    "e4": (
        "Error E4",
        "The display shows E4 when the drain is blocked. Clean the filter and start the program again.",
    ),
    "salt": (
        "Salt for dishwashers",
        "Fill in one kilogram of salt before the first wash. The red lamp goes on when the salt is used up.",
    ),
    "salt road": (
        "The Salt Road",
        "The Salt Road is a novel by Vera Lund. The first edition appeared in 1964; "
        "a German translation followed in 1968.",
    ),
    "lund": (
        "Vera Lund",
        "Vera Lund studied medicine in Uppsala before she began to write. She died in Lisbon at the age of 81.",
    ),
    "film": (
        "Film of The Salt Road",
        "The novel was filmed in 1979 under the direction of Jon Aas. The leading role was played by Maren Dahl.",
    ),
    "aas": (
        "Jon Aas",
        "Jon Aas learned his trade at the film school of Lodz. He is the father of the painter Siri Aas.",
    ),
    "water tower": (
        "Water tower",
        "The water tower of Lindvik is 32 meters high. It was built of red brick in 1902 and holds 400 cubic meters.",
    ),
    "radio tower": (
        "Radio tower",
        "The radio tower of Lindvik was put up in 1956. With 118 meters it is the highest building of the county.",
    ),
    "bridge": (
        "Sund bridge",
        "The Sund bridge joins Lindvik and Ortval since 1987. Lorries of more than 40 tons may not cross it.",
    ),
    "bridge maker": (
        "Designer of the Sund bridge",
        "The Sund bridge was designed by the engineer Tove Krag. It won the European Steel Prize in 1989.",
    ),
    "krag": (
        "Tove Krag",
        "Tove Krag teaches at the technical university of Delft. She collects old slide rules.",
    ),
    "night train": (
        "Night train",
        "The night train from Oslo to Ortval leaves at 11:05 pm. On its way it stops in Hamar and in Lindvik.",
    ),
    "sleeping car": (
        "Sleeping cars",
        "A bed in a compartment for two costs 850 kroner. Breakfast is served from 6 am.",
    ),
    "bicycles": (
        "Bicycles on trains",
        "Bicycles may be taken on regional trains for 40 kroner. They are not allowed on the night train.",
    ),
    "luggage": (
        "Lost luggage",
        "Lost luggage is kept for 90 days at the station of Ortval. After that it is sold by auction.",
    ),
    "bakery": (
        "Sundby bakery",
        "The Sundby bakery in Lindvik sells rye bread from 5:30 am on. It belongs to the family of Per Sundby.",
    ),
    "sundby": (
        "Per Sundby",
        "Per Sundby won the national championship of bakers in 2011. Before that he was a diver in the navy.",
    ),
    "library": (
        "City library",
        "Books can be borrowed for four weeks, and films for one week. Each day that a book is late costs 2 kroner.",
    ),
    "library card": (
        "Library card",
        "A library card costs nothing for those who live in Lindvik. Bring a passport and proof of your address.",
    ),
    "pool": (
        "Swimming pool",
        "The water of the outdoor pool is heated to 26 degrees. The season ends on the second Sunday of September.",
    ),
    "sauna": (
        "Sauna",
        "The sauna is mixed, but for Tuesdays, which are for women only. Towels are rented for 30 kroner.",
    ),
    "waste": (
        "Household waste",
        "Household waste is collected every second Thursday. Put the grey bin out before 6 am.",
    ),
    "glass": (
        "Glass and batteries",
        "Glass goes into the containers at the market place. Batteries are taken back by every shop that sells them.",
    ),
    "parking": (
        "Parking",
        "Parking in the old town is limited to two hours. "
        "Residents get a permit for 900 kroner a year at the town hall.",
    ),
    "mayor": (
        "Town hall",
        "The mayor of Lindvik is Liv Rask, a former judge. The town hall is open from 8 am to 3 pm.",
    ),
}

QUESTIONS: tuple[Asked, ...] = (
    Asked("How many passengers does the ferry Sigrun carry?", "sigrun", ("240",), "alma"),
    Asked("In what year was the ferry Alma built?", "alma", ("1998",), "sigrun"),
    Asked("How much does a ferry ticket for an adult cost?", "ferry prices", ("60 kroner",), "museum tickets"),
    Asked("Who founded the Harbor Museum?", "museum", ("ida holm",), "museum tickets"),
    Asked("What is the admission to the Harbor Museum?", "museum tickets", ("120 kroner",), "museum"),
    Asked("Where was Ida Holm born?", "holm", ("bergen",), "museum"),
    Asked("On which day is the Museum of Toys closed?", "toys", ("monday",), "museum"),
    Asked("How much does the Gold Auto Policy pay for a rental car?", "gold policy", ("$60",), "roadside"),
    Asked("What is the deductible of the Basic Auto Policy for hail?", "basic policy", ("$500",), "claims"),
    Asked("Within how many days must an accident be reported?", "claims", ("seven",), "basic policy"),
    Asked("Up to which distance is towing free?", "roadside", ("100 miles",), "gold policy"),
    Asked("How many days of annual leave do employees get?", "leave", ("27",), "sick"),
    Asked("How many weeks of parental leave are paid?", "parental", ("49",), "leave"),
    Asked("From which day of illness on is a medical certificate needed?", "sick", ("fourth",), "leave"),
    Asked("How much may a hotel cost on business travel?", "travel", ("140 euros",), "leave"),
    Asked("How much Amoril do adults take?", "amoril", ("500 mg",), "amoril effects"),
    Asked("What dose of Amoril do children take?", "amoril children", ("250 mg",), "amoril effects"),
    Asked("Who makes Amoril?", "velda", ("velda",), "amoril"),
    Asked("How long is the warranty of the Norden X300?", "x300", ("five years",), "e4"),
    Asked("How much water does the Norden X200 use?", "x200", ("9 liters",), "x300"),
    Asked("What does error E4 mean?", "e4", ("drain",), "x200"),
    Asked("Who wrote The Salt Road?", "salt road", ("vera lund",), "salt"),
    Asked("Who directed the film of The Salt Road?", "film", ("jon aas",), "salt road"),
    Asked("How high is the water tower of Lindvik?", "water tower", ("32 meters",), "bridge"),
    Asked("When was the radio tower put up?", "radio tower", ("1956",), "bridge maker"),
    Asked("Who designed the Sund bridge?", "bridge maker", ("tove krag",), "bridge"),
    Asked("At what time does the night train to Ortval leave Oslo?", "night train", ("11:05",), "luggage"),
    Asked("For how long is lost luggage kept?", "luggage", ("90 days",), "bicycles"),
    Asked("How long can films be borrowed from the library?", "library", ("one week",), "library card"),
    Asked("Who is the mayor of Lindvik?", "mayor", ("liv rask",), "parking"),
)
# Questions in two steps, with the passages that they need. The first passage leads to the second.
CHAINS: tuple[tuple[str, tuple[str, str]], ...] = (
    ("Where did the captain of the ferry Sigrun grow up?", ("sigrun", "brandt")),
    ("In which city was the founder of the Harbor Museum born?", ("museum", "holm")),
    ("How many ships did the founder of the Harbor Museum own?", ("museum", "holm")),
    ("What did the author of The Salt Road study?", ("salt road", "lund")),
    ("Where did the director of the film of The Salt Road learn his trade?", ("film", "aas")),
    ("At which university does the designer of the Sund bridge teach?", ("bridge maker", "krag")),
    ("Which championship did the owner of the bakery in Lindvik win?", ("bakery", "sundby")),
    ("Where are the headquarters of the group that bought the maker of Amoril?", ("velda", "nordhav")),
)
