"""Stores as they begin: one to twenty memories, the first questions a newcomer asks, and others."""

from __future__ import annotations

# A store a paragraph: a memory a line, with one question or two that it answers.
STORES = """\
The user's name is Priya and she lives in Toronto.|What is my name?|where does the user live?

We chose FastAPI for the new service because it is async.|Which web framework did we pick?

My favourite colour is dark green.|what color do I like best?

The deploy key is kept in 1Password under "ci-prod".|Where do I find the deploy key?
Staging runs on the machine called otter.|which server is staging on?

I am allergic to shellfish.|Is there any food I can't eat?
My sister Joan visits in June.|When does my sister come?

User prefers dark mode in every editor.|Does the user like light or dark themes?
The user writes Python, and a little Go.|Which programming languages does the user know?
User's time zone is Europe/Madrid.|What timezone is the user in?

The customer's order 88213 arrived with a broken lid.|What was wrong with order 88213?
The customer was offered a refund of 15 dollars.|How much money did we give back?
The customer asked to be called in the afternoon only.|When should I phone them?

Never use tabs in this repository.|tabs or spaces?
Tests are run with pytest -x before each push.|How do I run the tests?
The main branch is protected.|Can I push to main?
Release notes go into CHANGES.md.|Where do I write release notes?
Sam owns the billing module.|Who is responsible for billing?

My cat is called Biscuit and she is eleven.|How old is my cat?|what's my cat's name
I drive a red Skoda from 2016.|What car do I have?
My dentist is Dr. Lund in Park Road.|Who is my dentist?
The wifi password is on the fridge.|What is the wifi password?
I go climbing every Wednesday with Marek.|What do I do on Wednesdays?

Max works as a nurse at the children's hospital.|What does Max do for a living?
Max's daughter Ida plays handball.|Which sport does Ida play?
Max is vegetarian since last spring.|Does Max eat meat?
Max wants to learn Portuguese before the trip.|What language is Max learning?
Max is afraid of heights.|What scares Max?
Max's brother owns a vineyard near Bordeaux.|Who in Max's family makes wine?
Max reads crime novels on the train.|What kind of books does Max read?
Max broke his wrist in February.|What injury did Max have?

The API returns money as integer cents.|How are prices represented in the API?
All times in the database are UTC.|Which time zone do we store?
Retry a failed webhook five times, then give up.|How often are webhooks retried?
Photos are stored in the bucket media-eu.|Where do uploaded pictures go?
The search index is rebuilt every night at 3.|When does the index get rebuilt?
Passwords are hashed with argon2.|How do we hash passwords?
The admin panel is only reachable through the VPN.|Why can't I open the admin panel?
Rate limits are 100 requests per minute per key.|What is our rate limit?

Breakfast is served from seven to ten on the terrace.|When can I have breakfast?
The pool closes at eight in the evening.|Until when can I swim?
Guests leave their keys at the bar when they go out.|Where do I leave my key?
Room 12 has the view of the sea.|Which room looks at the ocean?
The boiler of the annex is old, showers there are lukewarm.|Why is there no hot water in the annex?
Towels are changed on Mondays and Thursdays.|How often do we get new towels?
The shuttle to the airport costs eight euros.|What does the airport transfer cost?
Dogs are welcome, but not in the dining room.|Are pets allowed?
Late check-out is possible until two.|How late can I check out?
The nearest pharmacy is behind the church.|Where can I buy medicine?
On Sundays there is live music in the garden.|Is there a concert this week?
Bicycles are lent for free at the desk.|Can I borrow a bike?

Our team has six people and two open positions.|How big is the team?
Stand-up is at 9:15 on weekdays.|What time is standup?
The quarterly goal is to cut churn to three percent.|What is our goal this quarter?
Elif leads design.|Who is in charge of design?
Jakub is on parental leave until October.|Why is Jakub away?
The offsite takes place in Valencia.|Where is the offsite?
We use Linear for issues and Notion for docs.|Which tool do we use to track issues?
The largest customer is Norrland Freight.|Who is our biggest client?
Invoices are due after thirty days.|How long do customers have to pay?
The office dog is called Turing.|What is the name of the dog?
The CEO wants weekly numbers on Friday mornings.|When does the boss want the numbers?
Our legal entity is registered in Tallinn.|Where is the company registered?
The mobile app is written in Kotlin and Swift.|What is the app built with?
Expenses above 500 need two signatures.|Who has to approve big expenses?
The fire drill is on the first Tuesday of May.|When is the fire drill?
Mira keeps the spare keys.|Who has a spare key?
Free lunch is on Thursdays.|On which day is lunch free?
The beta starts with forty users.|How many people are in the beta?
Slack is muted after seven.|Do I have to answer messages at night?
The printer on the second floor needs a code, it is 4455.|What is the printer code?
"""
# Everyday questions that none of these stores answers.
UNRELATED = """\
What is the capital of Mongolia?
How do volcanoes form?
Who won the football world cup in 1998?
Give me a recipe for apple pie
How far is the moon from the earth?
What is the price of copper in Chile?
Translate good night into Japanese
How many bones does a shark have?
Who painted the Mona Lisa?
Explain photosynthesis to me
What is the square root of 1764?
When did the Roman empire fall?
Which planet has the most rings?
How do I knit a scarf?
What is the plot of Hamlet?
Best way to prune roses
Is it going to rain in Nairobi?
Why do whales sing?
How does a nuclear reactor work?
Who invented the telephone?
"""


def stores() -> list[list[tuple[str, list[str]]]]:
    """Each store as its memories, with the questions that each answers."""
    return [
        [(said, asked) for said, *asked in (line.split("|") for line in one.splitlines())]
        for one in STORES.strip().split("\n\n")
    ]
