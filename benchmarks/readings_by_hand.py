"""Ambiguous questions with their readings, written by hand, in wordings that a model may give for several passages."""

from __future__ import annotations

from typing import TypeAlias

# Maps a question to its readings, each in several wordings (interpretation, answer).
Bank: TypeAlias = dict[str, tuple[tuple[tuple[str, str], ...], ...]]

FIRST: Bank = {
    "How long do contestants get to answer on jeopardy?": (
        (
            ("How long do contestants get to answer a typical question on jeopardy?", "five seconds"),
            ("How many seconds does a contestant have to respond to a regular clue on Jeopardy!?", "5 seconds"),
            ("What is the time limit for answering a standard clue on Jeopardy!?", "Five seconds"),
            ("How much time do Jeopardy! players have to respond after ringing in?", "5 seconds"),
        ),
        (
            ("How long do contestants get to answer a final jeopardy question on jeopardy?", "30 seconds"),
            ("How much time do contestants have in Final Jeopardy! to write their response?", "thirty seconds"),
            ("How many seconds do contestants have for the Final Jeopardy! clue?", "30 seconds"),
        ),
        (
            ("How long do contestants get to answer on jeopardy's online test?", "15 seconds"),
            ("How much time is given per question on the Jeopardy! online contestant test?", "15 seconds"),
            ("What is the time limit for each clue in the Jeopardy! online test?", "fifteen seconds"),
        ),
    ),
    "Who is the chairman of the african union commission?": (
        (
            ("Who is the 4th chairman of african union commission?", "Moussa Faki Mahamat"),
            ("Who has been chairperson of the African Union Commission since 2017?", "Moussa Faki"),
            ("Who is the current chairperson of the African Union Commission?", "Moussa Faki Mahamat"),
        ),
        (
            ("Who is the 3rd chairman of african union commission?", "Nkosazana Dlamini-Zuma"),
            (
                "Who was chairperson of the African Union Commission from 2012 to 2017?",
                "Nkosazana Clarice Dlamini-Zuma",
            ),
            ("Who was the first woman to chair the African Union Commission?", "Nkosazana Dlamini-Zuma"),
        ),
        (
            ("Who is the 2nd chairman of african union commission?", "Jean Ping"),
            ("Who chaired the African Union Commission from 2008 to 2012?", "Jean Ping"),
            ("Who preceded Nkosazana Dlamini-Zuma as chairman of the African Union Commission?", "Jean Ping"),
        ),
    ),
    "Who took control of the italian government in 1922?": (
        (
            ("What party took control of the Italian government in 1922?", "National Fascist Party"),
            ("Which political party came to power in Italy in 1922?", "the National Fascist Party"),
            ("Which party seized the Italian government after the March on Rome?", "National Fascist Party (PNF)"),
        ),
        (
            ("What leader took control of the Italian government in 1922?", "Benito Mussolini"),
            ("Who became prime minister of Italy in October 1922?", "Benito Mussolini"),
            ("Which person took over the government of Italy in 1922?", "Mussolini"),
        ),
    ),
    "When was the first airline meal served?": (
        (
            ("When was the first airline meal served during a flight?", "October 1919"),
            ("In what month and year were the first airline meals served?", "October 1919"),
            ("When did Handley Page Transport serve the first in-flight meals?", "11 October 1919"),
        ),
        (
            ("When was the first hot airline meal cooked on board an aircraft?", "1936"),
            ("When did United Airlines install the first airplane kitchens for hot meals?", "1936"),
        ),
    ),
    "Why did the cardinals move to arizona?": (
        (
            (
                "Why did the St. Louis Cardinals move to Arizona because of their performance?",
                "overall mediocrity of the Cardinals",
            ),
            ("What performance issue led the St. Louis Cardinals to move to Arizona?", "the team's overall mediocrity"),
        ),
        (
            ("What stadium issue caused the St. Louis Cardinals to move to Arizona?", "old stadium"),
            ("Why did the Cardinals' venue lead to their move to Arizona?", "a then-21-year-old stadium"),
        ),
        (
            ("What fan issue caused the st louis cardinals move to arizona?", "game attendance to dwindle"),
            (
                "How did attendance contribute to the Cardinals' move from St. Louis to Arizona?",
                "dwindling game attendance",
            ),
        ),
    ),
    "rental cars": (
        (
            (
                "What is rental car reimbursement in auto insurance?",
                "Coverage that pays for a rental car while yours is repaired after a covered claim",
            ),
            (
                "What does rental reimbursement coverage pay for?",
                "the cost of a rental car while your car is in the shop",
            ),
            (
                "What is rental reimbursement coverage?",
                "An optional coverage that pays for a rental while your vehicle is being repaired",
            ),
        ),
        (
            (
                "Does my personal auto insurance cover rental cars?",
                "Usually yes, your liability and collision coverage extend to a rental car",
            ),
            ("Does a personal auto policy extend to a rented car?", "Yes, in most cases"),
        ),
        (
            ("How much does rental car insurance cost per day at the counter?", "$10 to $20 per day"),
            ("What is the daily price of a collision damage waiver from the rental company?", "$10 to $20 a day"),
        ),
        (
            ("What does a collision damage waiver cover on a rental car?", "damage to or theft of the rental car"),
            ("What is covered by the CDW offered by rental companies?", "Damage or theft of the rented vehicle"),
        ),
        (("How old must you be to rent a car?", "21 years"), ("What is the minimum age for renting a car?", "21")),
    ),
    "when is the pool open": (
        (
            ("When is the indoor pool open on weekdays?", "6 am to 9 pm"),
            ("What are the weekday opening hours of the indoor pool?", "6:00-21:00"),
            ("On weekdays, what hours can guests use the indoor swimming pool?", "6 a.m. - 9 p.m."),
        ),
        (
            ("When is the indoor pool open on weekends?", "8 am to 6 pm"),
            ("What are the weekend hours of the indoor swimming pool?", "8 a.m. to 6 p.m."),
        ),
        (
            ("When is the outdoor pool open?", "May to September"),
            ("In which months is the outdoor pool open?", "from May until September"),
            ("What season is the outdoor swimming pool open?", "May through September"),
        ),
    ),
    "Who plays the doctor": (
        (
            ("Who plays the Doctor in Doctor Who in 2005?", "Christopher Eccleston"),
            ("Which actor portrayed the Ninth Doctor in Doctor Who?", "Christopher Eccleston"),
            ("Who played the ninth incarnation of the Doctor?", "Eccleston"),
        ),
        (
            ("Who played the Tenth Doctor in Doctor Who?", "David Tennant"),
            ("Which actor portrayed the tenth incarnation of the Doctor?", "David Tennant"),
        ),
        (
            ("Who played the Eleventh Doctor in Doctor Who?", "Matt Smith"),
            ("Which actor took over as the Doctor in 2010?", "Matt Smith"),
        ),
        (("Who plays the doctor in Dexter season 1?", "Tony Goldwyn"),),
    ),
    "episodes in season": (
        (
            ("How many episodes are in season 1 of Chesapeake Shores?", "9"),
            ("How many episodes did the first season of Chesapeake Shores have?", "nine episodes"),
        ),
        (
            ("How many episodes are in season 2 of chesapeake shores?", "10"),
            ("How many episodes does the second season of Chesapeake Shores consist of?", "ten"),
            ("How long is season two of Chesapeake Shores in episodes?", "10 episodes"),
        ),
        (
            ("How many episodes are in season 3 of Chesapeake Shores?", "10"),
            ("How many episodes does the third season of Chesapeake Shores have?", "10 episodes"),
        ),
    ),
    "password policy": (
        (
            ("How often must employees change their password?", "every 90 days"),
            ("What is the password expiration period for employees?", "90 days"),
            ("After how many days does an employee password expire?", "90"),
        ),
        (
            ("How often must administrators change their password?", "every 30 days"),
            ("What is the password expiration period for administrator accounts?", "30 days"),
        ),
        (
            ("What is the minimum length of a password?", "12 characters"),
            ("How many characters must a password have at least?", "12"),
        ),
        (
            ("How many failed logins lock an account?", "five"),
            ("After how many wrong password attempts is the account locked?", "5 attempts"),
        ),
    ),
    "refund": (
        (
            ("How long do I have to return an item for a refund?", "30 days"),
            ("What is the return window for purchases?", "within 30 days of delivery"),
            ("Within how many days can a customer send back an order?", "30 days"),
        ),
        (
            ("How long does it take to receive a refund?", "5 to 7 business days"),
            ("When will the refund arrive after a return is processed?", "within 5-7 business days"),
        ),
        (
            ("Who pays for return shipping?", "the customer"),
            ("Are return shipping costs covered by the customer?", "Yes, the customer pays return shipping"),
        ),
        (
            ("How long do I have to return electronics?", "14 days"),
            ("What is the return window for electronic items?", "14 days"),
        ),
    ),
    "capital of georgia": (
        (
            ("What is the capital of the country of Georgia?", "Tbilisi"),
            ("What is the capital city of Georgia in the Caucasus?", "Tbilisi"),
            ("Which city is the capital of the nation of Georgia?", "Tbilisi"),
        ),
        (
            ("What is the capital of the U.S. state of Georgia?", "Atlanta"),
            ("Which city is the state capital of Georgia?", "Atlanta"),
            ("What is the capital of the American state Georgia?", "Atlanta, Georgia"),
        ),
    ),
    "who won the world cup": (
        (
            ("Who won the 2018 FIFA World Cup?", "France"),
            ("Which national team won the 2018 men's football World Cup in Russia?", "France"),
            ("Which country won the FIFA World Cup in 2018?", "France national football team"),
        ),
        (
            ("Who won the 2014 FIFA World Cup?", "Germany"),
            ("Which team won the FIFA World Cup held in Brazil in 2014?", "Germany"),
        ),
        (
            ("Who won the 2019 FIFA Women's World Cup?", "United States"),
            ("Which team won the Women's World Cup in 2019?", "the United States"),
        ),
        (
            ("Who won the 2019 Cricket World Cup?", "England"),
            ("Which country won the ICC Cricket World Cup in 2019?", "England"),
        ),
        (
            ("Who won the 1998 FIFA World Cup?", "France"),
            ("Which country won the men's football World Cup in 1998?", "France"),
        ),
    ),
    "vacation days": (
        (
            ("How many vacation days do full-time employees get per year?", "25 days"),
            ("What is the annual leave entitlement of full-time staff?", "25 days"),
            ("How much paid vacation does a full-time employee receive each year?", "25 days per year"),
        ),
        (
            ("How many vacation days do part-time employees get?", "pro rata by hours worked"),
            ("How is annual leave calculated for part-time staff?", "in proportion to hours worked"),
        ),
        (
            ("How many unused vacation days can be carried over?", "up to 5 days"),
            ("How many days of annual leave may be carried into the next year?", "5 days"),
        ),
        (
            ("How many sick days do employees get per year?", "10 days"),
            ("How much paid sick leave do employees receive?", "10 days per year"),
        ),
    ),
    "speed limit": (
        (
            ("What is the speed limit in residential areas?", "25 mph"),
            ("How fast may you drive in a residential district?", "25 miles per hour"),
        ),
        (
            ("What is the speed limit on highways?", "65 mph"),
            ("What is the maximum speed on a highway?", "65 miles per hour"),
        ),
        (
            ("What is the speed limit in school zones?", "15 mph"),
            ("How fast may you drive near a school?", "15 miles per hour"),
        ),
    ),
}

SECOND: Bank = {
    "when was the bridge built": (
        (
            ("When did construction of the Golden Gate Bridge begin?", "January 5, 1933"),
            ("On what date did work on the Golden Gate Bridge start?", "5 January 1933"),
            ("When was the building of the Golden Gate Bridge started?", "1933"),
        ),
        (
            ("When did the Golden Gate Bridge open to traffic?", "May 27, 1937"),
            ("When was the Golden Gate Bridge opened?", "27 May 1937"),
            ("In what year was the Golden Gate Bridge completed?", "1937"),
        ),
        (
            ("When was the Brooklyn Bridge opened?", "May 24, 1883"),
            ("In what year did the Brooklyn Bridge open?", "1883"),
        ),
    ),
    "who is the ceo of apple": (
        (
            ("Who is the current CEO of Apple Inc.?", "Tim Cook"),
            ("Who became chief executive of Apple after Steve Jobs?", "Timothy Cook"),
            ("Who has led Apple as CEO since 2011?", "Tim Cook"),
        ),
        (
            ("Who was the CEO of Apple before Tim Cook?", "Steve Jobs"),
            ("Who was Apple's chief executive from 1997 to 2011?", "Steve Jobs"),
        ),
        (
            ("Who was Apple's CEO in 1983?", "John Sculley"),
            ("Which former Pepsi executive became CEO of Apple?", "John Sculley"),
        ),
    ),
    "insurance deductible": (
        (
            ("What is the deductible for collision coverage?", "$500"),
            ("How much is the collision deductible?", "500 dollars"),
            ("How much do I pay myself in a collision claim?", "a $500 deductible"),
        ),
        (
            ("What is the deductible for comprehensive coverage?", "$250"),
            ("How much is the comprehensive deductible?", "$250"),
        ),
        (
            ("What is a deductible in car insurance?", "the amount you pay before the insurer pays"),
            (
                "What does the deductible of an auto policy mean?",
                "The amount you pay out of pocket before insurance pays",
            ),
        ),
    ),
    "max file size": (
        (
            ("What is the maximum file size for email attachments?", "25 MB"),
            ("How large may an email attachment be?", "25 MB"),
            ("What is the size limit of attachments?", "up to 25 MB"),
        ),
        (
            ("What is the maximum file size for uploads to the portal?", "2 GB"),
            ("How big can a file uploaded to the portal be?", "2 GB per file"),
        ),
        (
            ("What is the maximum number of attachments per email?", "ten"),
            ("How many files can be attached to an email?", "10 files"),
        ),
    ),
    "side effects": (
        (
            ("What are common side effects of ibuprofen?", "nausea, heartburn and dizziness"),
            ("Which side effects does ibuprofen often cause?", "Heartburn, nausea, dizziness"),
            ("What are the most frequent adverse effects of ibuprofen?", "stomach upset, heartburn, dizziness"),
        ),
        (
            ("What are rare but serious side effects of ibuprofen?", "stomach bleeding and kidney damage"),
            ("Which severe adverse effects can ibuprofen have?", "gastrointestinal bleeding, kidney injury"),
        ),
        (
            ("What are common side effects of paracetamol?", "rare at normal doses"),
            ("Does paracetamol have side effects?", "They are rare at normal doses"),
        ),
    ),
    "is parking free": (
        (
            ("Is parking free for employees at headquarters?", "Yes"),
            ("Do headquarters employees park for free?", "Yes, with a badge"),
        ),
        (
            ("Is parking free for visitors at headquarters?", "No"),
            ("Do visitors have to pay for parking?", "Yes, $5 per hour"),
            ("How much does visitor parking cost?", "$5 an hour"),
        ),
        (("Where can visitors park?", "in garage B"), ("Which garage is for visitors?", "Garage B")),
    ),
    "final fantasy release": (
        (
            ("When was Final Fantasy VII released in Japan?", "January 31, 1997"),
            ("What was the Japanese release date of Final Fantasy VII?", "31 January 1997"),
        ),
        (
            ("When was Final Fantasy VII released in North America?", "September 7, 1997"),
            ("What was the North American release date of Final Fantasy 7?", "7 September 1997"),
        ),
        (
            ("When was Final Fantasy VIII released in Japan?", "February 11, 1999"),
            ("When did Final Fantasy VIII come out in Japan?", "1999"),
        ),
    ),
    "highest mountain": (
        (
            ("What is the highest mountain in the world above sea level?", "Mount Everest"),
            ("Which mountain has the highest elevation on Earth?", "Everest"),
            ("What is the tallest mountain above sea level?", "Mt. Everest"),
        ),
        (
            ("What is the tallest mountain from base to peak?", "Mauna Kea"),
            ("Which mountain is tallest measured from its base?", "Mauna Kea in Hawaii"),
        ),
        (
            ("Which mountain's summit is farthest from the center of the Earth?", "Chimborazo"),
            ("What peak is the farthest point from Earth's center?", "Mount Chimborazo"),
        ),
    ),
}
