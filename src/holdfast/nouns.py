"""Words that tell what a statement is about: attributes, people, events, states."""

from __future__ import annotations

COLOURS = frozenset(
    "red orange yellow green blue purple pink brown black white grey gray teal".split()
)
# States of which one ends the other, whatever is in them.
OPPOSITES = {
    word: " or ".join(pair)
    for pair in (
        line.split()
        for line in """open closed|enabled disabled|failing passing|locked unlocked|online offline
        active inactive|available unavailable|public private|broken fixed|full empty
        paid unpaid|up down|sick healthy|pending done|valid expired""".replace("\n", "|").split("|")
    )
    for word in pair
}
# What a state is as well: a bug that is fixed is neither broken nor open.
ALSO = {
    **dict.fromkeys(("fixed", "resolved", "solved"), ("fixed", "closed", "done")),
    **dict.fromkeys(("finished", "complete", "completed", "done"), ("done", "closed")),
    "cancelled": ("down",),
    "on hold": ("inactive",),
    "paused": ("inactive",),
    "back": ("up", "available"),
    "well": ("healthy",),
    "ill": ("sick",),
    "running": ("up", "fixed"),
    "out of order": ("broken", "down"),
    "out of service": ("broken", "down"),
    "up and running": ("up",),
    "working": ("fixed", "up"),
}
MOODS = {
    **dict.fromkeys("vegan vegetarian pescatarian omnivore keto carnivore".split(), "diet"),
    **dict.fromkeys("married single divorced engaged widowed separated".split(), "marital"),
    **dict.fromkeys("retired unemployed freelancing self-employed".split(), "work status"),
}
NOUNS = frozenset(
    """name status size version limit budget owner lead leader plan price cost password port
    language
    framework database store date time day colour color address email number phone
    birthday age
    title role job boss manager team employer wife husband spouse partner capital author director
    president
    chairperson head officer goal target schedule host region city country location place editor
    default
    theme format style tool stack branch license timezone zone currency rate height weight captain
    coach
    doctor teacher dentist landlord nickname pronouns username handle diet major university school
    company
    car bike laptop provider vendor cloud platform backend frontend queue cache
    library
    runtime compiler policy frequency cadence interval maximum minimum timeout threshold domain
    url endpoint
    bucket hostname model engine strategy approach codename slogan motto mascot venue speaker
    sponsor winner
    champion record score rank level floor apartment flat headquarters contact assignee
    reviewer anthem
    religion sport genre position continent broadcaster founder ceo cto cfo mayor king queen
    minister
    chancellor gateway proxy orchestrator scheduler linter formatter hours rent salary""".split()
)
PEOPLE = frozenset(
    """owner lead leader boss manager employer wife husband spouse partner author director
    president
    chairperson head officer captain coach doctor teacher dentist landlord assignee reviewer
    founder ceo
    cto cfo mayor king queen minister chancellor winner champion speaker sponsor editor
    host""".split()
)
# What somebody is to others, as long as they do it.
OFFICES = frozenset(
    """gp physician therapist counsellor counselor vet accountant lawyer solicitor tutor trainer
    cleaner nanny babysitter hairdresser barber secretary treasurer chair chairman chairwoman
    supervisor mentor advisor adviser producer conductor principal headteacher plumber gardener
    caterer contractor architect agent midwife nurse specialist""".split()
)
EVENTS = frozenset(
    """meeting standup release demo review launch retro appointment flight party wedding class
    session
    call interview workshop deadline exam lesson dinner trip""".split()
)
SYNONYMS = {
    "email address": "email",
    "e-mail": "email",
    "phone number": "phone",
    "number": "phone",
    "telephone": "phone",
    "major": "study",
    "job title": "job",
    "title": "job",
}
MANY_NOUNS = frozenset(
    """hobby hobbies allergy allergies languages friend friends child children kid kids pet pets
    sibling
    siblings brother sister skill skills tag tags interest interests son daughter cat dog colleague
    colleagues member members feature features cousin dependency dependencies maintainers
    reviewers uncle
    aunt neighbour neighbor""".split()
)
