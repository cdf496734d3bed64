"""How the end of something is told: "we switched from A to B", "B took over from A", "A is over".

Each function gives who, attribute and value of what holds no longer, as said. The attribute is
`ANY` for whatever had that value, `ONGOING` for whatever is going on with it; the value is `ANY`
where no value is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.forms import ADVERB, BE, HAVE, WHO, alternatives

ANY = "*"  # as the attribute, or its first word: whatever had this value; as the value: every one
OFFICE = f"{ANY} office"  # what somebody was to others: their doctor, the treasurer
THING = f"{ANY} thing"  # what it is that is no more: of a "season" no "season ticket"
LIKED = f"{ANY} liked"  # what was liked, and is no longer
CAME = "came"  # before what a change led to
_SOMEBODY = {"me": "i", "us": "", "them": "", "user": "User"}
GOING = "ongoing"  # before what somebody is at, or on
ONGOING = f"{ANY} {GOING}"
_JUST = "(?:just |recently |finally |now |already )?"
# Words without one of which no change is told: most statements have none, and are not looked at.
TOLD = re.compile(
    r"\b(?:switched|moved|migrated|changed?|went|converted|transitioned|swapped|upgraded|jumped|left"
    r"|replace[ds]|dropped|ditched|abandoned|traded|exchanged|quit|gave|given|cancell?ed|sold|wiped"
    r"|uninstalled|scrapped|rid|stepped|resigned|retired|let|took|taken|takes|succeed(?:ed|s)|handed"
    r"|passed|turned|donated|instead|not|longer|any ?more|finished|completed?|stopped|wrapped|back"
    r"|home|out|done|over|through|returned|broke|split|separated|divorced|parted|single|widowed|laid|fired"
    r"|unemployed|lost|between|had|eats?|found|bought|got|adopted|landed|started|accepted|graduated"
    r"|joined|rewrote|rewritten|rebuilt|ported|reimplemented|remade|bumped|downgraded|relocated"
    r"|shifted|transferred|pushed?|updated|raised?|increased|lower(?:ed)?|reduced|cut|reset|rename"
    r"|renamed|extended|shortened|rescheduled|postponed?|delayed|expanded|doubled|rose|fell|grew"
    r"|shrank|decreased|adjusted|corrected|rebranded|grown|risen|fallen|shrunk|set|move|switch"
    r"|more|off|(?:re)?opened|closed|shut|works?|working|repaired|fixed|died|crashed|down|came"
    r"|has a|stood|resigned|sworn?|swore|packed|come|been|weaned|binned|threw|thrown|chucked|parted"
    r"|walked|pulled|withdrew|withdrawn|opted|unsubscribed|deleted|wound|phased|decommissioned"
    r"|deprecated|discontinued|removed|sacked|backed|called|said|did|disbanded|dissolved|axed"
    r"|outgrew|outgrown|smashed|wrecked|totalled|sent|put|cast|stolen|abolished|revoked|repealed"
    r"|lifted|torn|demolished|written|ended|expired|lapsed|ran|run|folded|gone|no|history|kicked"
    r"|assigned|reassigned|married|engaged|recovered|healed|cured|passed|born|birth|paid)\b|->|=>|→",
    re.IGNORECASE,
)
Ended = Iterator[tuple[str, str, str]]


def _pattern(form: str) -> re.Pattern[str]:
    return re.compile(form, re.IGNORECASE)


SWITCHED = _pattern(
    rf"^{WHO} {HAVE}{_JUST}(?P<verb>"
    + alternatives(
        "switched|moved|migrated|changed|went|converted|transitioned|swapped|upgraded|jumped|shifted"
    )
    + r")(?: (?P<what>(?:the |our |my |his |her |their )?[\w' -]{2,30}?))?"
    r" (?:over )?from (?P<old>.+?) (?:over )?to (?P<new>.+)$"
)
SWAPPED = _pattern(
    rf"^{WHO} {HAVE}{_JUST}"
    + "(?P<verb>"
    + alternatives("replaced|dropped|ditched|swapped|abandoned|traded|exchanged|switched|left")
    + r") (?P<old>.+?) (?:in )?(?:with|for|by|in favou?r of|out for) (?P<new>.+)$"
)
# Verbs of which each ends what it is said of. Some are told of a thing that ended by itself.
_ENDS = alternatives(
    r"""quit|lost|gave up(?: on)?|given up(?: on)?|ditched|dropped(?: out of)?|cancell?ed|left|sold
    wiped|uninstalled|scrapped|abandoned|got(?:ten)? rid of|moved (?:away from|off|out of)
    (?:stepped|stood) down (?:as|from)|resigned (?:as|from)|retired (?:as|from)|swor[en]+ off
    cut out|packed in|came off|come off|weaned off|binned|threw (?:out|away)|chucked
    gave (?:away|back)|given (?:away|back)|handed (?:in|back)|traded in|parted with|finished with
    walked away from|pulled (?:out of|the plug on)|withdrew from|withdrawn from|opted out of
    unsubscribed from|deleted|shut down|closed down|wound up|phased out|decommissioned|deprecated
    discontinued|removed|fired|sacked|let go of|laid off|backed out of|called off|broke off
    cut ties with|said goodbye to|did away with|done away with
    disbanded|dissolved|axed|outgrew|outgrown|grew out of|grown out of"""
)
# Parted by what they end: "gave the cello up". Not "put it back": that is where it was.
_SPLIT = tuple(
    pair.split()
    for pair in """gave up|given up|gave away|given away|threw out|threw away|called off|shut down
    packed in|traded in|let go|cut out""".replace("\n    ", "|").split("|")
)
_GONE = alternatives(
    """cancell?ed|sold|scrapped|discontinued|shut down|called off|removed|dropped|retired
    decommissioned|phased out|stolen|dissolved|axed|abolished|withdrawn|revoked|repealed|lifted
    disbanded|abandoned|ditched|torn down|demolished|wound up|deprecated|closed down|written off
    taken away|deleted"""
)
_ENDED = alternatives(
    """expired|lapsed|fell through|folded|closed down|went bust|disbanded|dissolved
    came to an end|is gone|are gone|is no more|are no more|is history"""
)
DROPPED = _pattern(
    rf"^{WHO} {HAVE}{_JUST}(?:{_ENDS}|let (?=.* (?:lapse|expire|run out)$))"
    r" ?(?:on |with )?"
    r"(?:(?:my|his|her|their|the) (?:job|position|role|post) (?:at|with|in) )?"
    r"(?P<old>[^,;?!]+?)(?:,.*|,? (?:and|to|for|after|because) .*| lapse| expire| run out)?$"
)
# "I gave the cello up", "we let the cleaner go".
_DEFINITE = r"(?:(?:the|my|our|his|her|their|all) |(?-i:[A-Z]))[\w '’-]+?"
SPLIT = _pattern(
    rf"^{WHO} {HAVE}{_JUST}(?:"
    + "|".join(rf"{verb} (?P<{verb}_{how}>{_DEFINITE}) {how}" for verb, how in _SPLIT)
    + ")(?: for good| completely)?$"
)
# "My doctor took me off ibuprofen", "I was taken off the night shift".
TAKEN_OFF = _pattern(
    r"^(?:[^,;?!]{2,40}? (?:took|taken|takes|pulled|weaned|kicked) (?P<who>me|us|him|her|them"
    r"|my \w+|(?-i:[A-Z])\w+)"
    rf"|{WHO.replace('who', 'whom')} (?:was|were|got|has been|have been|am|is|are) (?:taken|pulled|"
    r"weaned|kicked|thrown)) (?:off|out of|from) (?P<old>[^,;?!]+)$"
)
# "The gym membership was cancelled", "the lease ran out": whosever it was.
GONE = _pattern(
    rf"^(?P<old>(?:the|my|our|his|her|their|(?-i:[A-Z])[\w-]*['’]s) [\w '’-]{{2,40}}?) "
    rf"(?:(?:was|were|has been|have been|got|is being|are being) {_JUST}{_GONE}"
    rf"|{HAVE}{_JUST}{_ENDED})(?: (?:by|in|on|at|after|for) .*)?$"
)
# "Billing was handed over to Kofi".
PASSED = _pattern(
    r"^(?P<old>[^,;:?!]{2,40}?) (?:was|were|has been|have been|got|is being) (?:now )?"
    r"(?:handed|passed|given|transferred|(?:re)?assigned|moved|turned)(?: (?:over|on|across))? to "
    r"(?P<new>(?-i:[A-Z])[\w.-]*(?: (?-i:[A-Z])[\w.-]*)?)$"
)
# "I haven't touched a cigarette in weeks", "we have no office any more".
WITHOUT = _pattern(
    rf"^{WHO} (?:(?:has|have) not (?:touched|had|eaten|drunk|smoked|used|worn|played)"
    r" (?:(?:an?|any|the|my) )?(?P<old>[\w -]+?) (?:in|for|since) .+"
    r"|(?:has|have) no (?P<no>[\w -]+?)(?: at all)?"
    r"(?: any ?more| any longer| now| left| these days)+)$"
)
# What one has of a thing that one is signed up for: to end it is to end the thing.
SIGNED_UP = _pattern(
    r"^(?:(?:my|our|his|her|their) )?(?P<thing>.+?) (?:subscription|membership|account|contract)$"
)
REPLACED = _pattern(
    r"^(?P<old>.+?) (?:was|is|were|has been|have been|got) replaced (?:by|with) (?P<new>.+)$"
)
# "Henrik took over from Karin as my boss", "Kafka replaced RabbitMQ".
SUCCEEDED = _pattern(
    rf"^(?P<new>[^,;:?!]{{1,60}}?) {HAVE}"
    r"(?:replace[ds]|(?:took|taken|takes) over (?:from|for)|succeed(?:ed|s)) "
    r"(?P<old>[^,;?!]+?)(?: as (?P<what>[^,;?!]+))?$"
)
# "Hamid took over as treasurer from Olga".
TOOK_FROM = _pattern(
    rf"^(?P<new>[^,;:?!]{{1,60}}?) {HAVE}(?:took|taken|takes) over as (?P<what>[^,;?!]+?) from "
    r"(?P<old>(?-i:[A-Z])[^,;?!]*)$"
)
# Who no longer does it holds no office any more: "since Dr. Patel retired".
WENT = _pattern(
    r"(?:^|\b(?:since|after|now that|because) )(?P<old>(?-i:(?:(?:Dr|Mrs?|Ms|Prof)\.? )?"
    rf"[A-Z][\w-]+(?: [A-Z][\w-]+)?)) {HAVE}{_JUST}(?:retired|resigned|quit|stepped down|stood down"
    r"|passed away|died|moved on|(?:was|were|been|got) (?:let go|fired|sacked|laid off|dismissed))"
    r"(?=$|,| (?:last|this|in|as|from|at|on|yesterday)\b)"
)
# "Jenkins -> Buildkite", "No more Jenkins, Buildkite now", "Jenkins is out, Buildkite is in".
ARROW = _pattern(
    r"^(?:[\w -]{2,30}: )?(?P<old>[\w.+#-]+?(?: [\w.+#-]+?)?) ?(?:→|->|=>) ?(?P<new>[^,;?!]+)$"
)
OUT = _pattern(
    r"^(?:no more (?P<old>[\w .+#-]{2,30}?)(?: for (?:me|us))?(?:[,;:] .*)?"
    r"|(?P<out>[\w .+#-]{2,30}?) (?:is|are) out(?:,| and|;) [^,;]+ (?:is|are) in)$"
)
# "Otto took over as our designer".
TOOK_OVER = _pattern(
    rf"^(?P<new>(?-i:[A-Z])[\w.'’-]*(?: (?-i:[A-Z])[\w.'’-]*)?) {HAVE}"
    r"(?:took over|taken over|stepped in|started|joined) as (?P<what>(?:my|our|the|his|her) .+)$"
)
# "Nadia handed the data team over to Piotr".
HANDED = _pattern(
    rf"^{WHO} {HAVE}(?:handed|passed|turned|gave|given|donated) (?:over )?"
    r"(?P<old>[^,;?!]+?) (?:over |on )?to (?P<new>[^;?!]+)$"
)
# "I use Firefox instead of Chrome", "I'm a manager these days, not a developer".
INSTEAD = _pattern(
    r"^(?P<who>I|we|(?:my|our|the) \w+|[A-Z][\w'’-]+)\b.*?"
    r"(?: instead of|, not(?: an?)?|,? and not(?: an?)?) "
    r"(?P<old>[\w .+#'’-]{2,40}?)(?: any ?more)?$"
)
# What is liked or tried, or is so on some days, is beside the other.
_CHOICE = _pattern(r"\b(?:prefers?|rather|likes?|loves?|tried|failed|on \w+days?|for \w+)\b")
# What was going on and is no more: "I finished Dune", "Nadia is back from parental leave".
OVER = _pattern(
    rf"^{WHO} {ADVERB}*{HAVE}{_JUST}"
    + alternatives(
        """finished|completed|stopped|dropped out of|dropped|quit|wrapped up|cancell?ed
        gave up(?: on)?|given up(?: on)?|returned from
        (?:is|am|are) (?:back|home|returning|out) (?:from|of)
        (?:came|got|went) (?:back|home|out) (?:from|of)
        (?:is|am|are) (?:done|finished|through) with
        (?:is|am|are) off
        (?:is|am|are) (?:not|no longer) (?:doing|on|taking|following|attending)
        (?:do|does) not (?:do|take|follow|attend)"""
    )
    + r" (?:(?!being|having)[a-z]+ing )?(?:(?:my|our|his|her|their|the|an?) )?"
    r"(?P<old>[^;?!]+?)(?: any ?more| any longer)?$"
)
# "I'm not the goalkeeper anymore".
NO_MORE = _pattern(
    rf"^{WHO} (?:is|am|are) (?:no longer (?:an?|the|our|my) (?P<old>[a-z][\w -]+)"
    r"|not (?:an?|the|our|my) (?P<was>[a-z][\w -]+) any(?: ?more| longer))$"
)
COMPLETE = _pattern(
    r"^(?:the|my|our|his|her|their) (?P<old>[\w -]+?) (?:is|are|has been|was|got) "
    r"(?:now |finally )?(?:over|finished|complete|completed|done|cancell?ed)$"
)
_PARTED = alternatives(
    """broke up|split up|separated|got divorced|are divorced|parted ways|are no longer together
    broke off (?:the|our|their) engagement|called off (?:the|our|their) (?:wedding|engagement)"""
)
PARTED = _pattern(rf"^{WHO} {HAVE}{_JUST}{_PARTED} (?:with|from) (?P<old>[^,;?!]+)$")
PARTED_BOTH = _pattern(rf"^(?P<old>\w+) and {WHO} {HAVE}{_JUST}{_PARTED}$")
COUPLE = "partner spouse boyfriend girlfriend husband wife".split()
# What no longer is when something else is said: of the attributes no value is left.
IMPLIED = [
    (_pattern(rf"^{WHO} {form}$"), attributes.split(", "))
    for form, attributes in (
        (
            rf"(?:{BE}|got) {ADVERB}*(?:single|divorced|widowed)(?: again)?",
            "partner, spouse, has girlfriend, has boyfriend, has husband, has wife",
        ),
        (
            rf"{HAVE}(?:retired|(?:{BE}|got|been) {ADVERB}*(?:retired|unemployed|laid off|fired"
            r"|out of (?:a job|work)|between jobs)|lost (?:my|his|her|their) job"
            r"|(?:quit|left) (?:my|his|her|their) job)(?: from .*)?",
            "employer, job",
        ),
        (rf"{HAVE}(?:had (?:a|the|my|her|our) baby\b.*|gave birth\b.*)", "is pregnant"),
        (
            rf"{HAVE}{_JUST}(?:graduated\b.*|finished (?:my|his|her|their) (?:studies|degree)\b.*)",
            "is student, school, study",
        ),
        (r"(?:now )?eats? (?:meat|fish)(?: again)?", "diet"),
        (
            rf"{HAVE}(?:found|got|landed|started|accepted|has) a (?:new )?job\b.*",
            "says look job, says look new job, work status",
        ),
    )
]
# "I found a flat in Leipzig": who looked for one does not any more.
FOUND = _pattern(
    rf"^{WHO} {HAVE}{_JUST}(?:found|bought|got|adopted) (?P<what>(?:an?|my|our|the) [\w ]+)$"
)


# "Ivo bought a house and gave up the flat", "the course got too much and I gave it up".
_DOER = r"(?P<doer>I|we|User|(?:my|our|the) [\w-]+|(?-i:[A-Z])[\w-]+)"
_AND = _pattern(
    rf"^(?P<first>{_DOER}\b.*?),?(?: and| but|,| so)(?: then| have| has)?"
    rf"(?: (?P<again>i|we|he|she|they))?(?: have| has)? "
    rf"(?P<rest>(?:{_ENDS}|gave|threw|called|let|have no|has no)\b.*)$"
)
_THING = _pattern(
    r"\b(?:an?|the|my|our|his|her) (?P<thing>[\w-]+(?: (?!got|was|is|has|had|became)[\w-]+)?)"
)
_IT = _pattern(r"\b(?:it|them)\b")


def parts(told: str) -> Iterator[str]:
    """What else a statement says of whom it begins with: the "it" of it is what it named first."""
    found = _AND.match(told)
    if found is None:
        return
    thing = _THING.search(found["first"])
    rest = _IT.sub(f"the {thing['thing']}", found["rest"]) if thing else found["rest"]
    again = found["again"] if (found["again"] or "").lower() in ("i", "we") else None
    if (found["again"] or "").lower() == "they" and "User" in found["first"]:
        again = "User"
    yield f"{again or found['doer']} {rest}"


def over(told: str) -> Ended:
    """What a statement says is no more, whatever the words in which it was told."""
    yield from _left(told)
    if found := WENT.search(told):
        yield "", OFFICE, found["old"]
    if found := NO_MORE.match(told):
        yield found["who"], ANY, found["old"] or found["was"]
    if (found := INSTEAD.match(told)) and not _CHOICE.search(told):
        yield found["who"], ANY, found["old"]
    if found := OVER.match(told):
        yield found["who"], ONGOING, found["old"]
    if found := COMPLETE.match(told):
        yield "", ONGOING, found["old"]
    if found := FOUND.match(told):
        for sought in ("look", "search", "save", "save up", "shop"):
            yield found["who"], f"says {sought} {found['what']}", ANY
        yield found["who"], ONGOING, f"waiting list for {found['what']}"
    for form, attributes in IMPLIED:
        if found := form.match(told):
            yield from ((found["who"], attribute, ANY) for attribute in attributes)


def _left(told: str) -> Ended:
    """Of "we switched from A to B": whatever was A no longer is."""
    if found := SWITCHED.match(told) or SWAPPED.match(told):
        what = found.groupdict().get("what")
        who = switcher(found["who"], what)
        yield who, ANY, found["old"]
        if what and what.lower() not in _SOMEBODY:  # of "we host our site on A" it is "site A"
            yield who, f"{ANY} {what}", f"{what} {found['old']}"
        elif who and found["verb"].lower() in ("switched", "changed"):
            yield who, LIKED, found["old"]
    elif found := PASSED.match(told):
        yield "", ANY, found["old"]
    elif found := TAKEN_OFF.match(told):
        who = found["who"] or found["whom"]
        yield _SOMEBODY.get(who.lower(), who), ANY, found["old"]
    elif found := SPLIT.match(told):
        yield found["who"], ANY, next(it for it in found.groups()[1:] if it)
    elif found := DROPPED.match(told):
        yield found["who"], ANY, found["old"]
        if up := SIGNED_UP.match(found["old"]):
            yield found["who"], f"{ANY} signed", up["thing"]
    elif found := HANDED.match(told):
        yield found["who"], ANY, found["old"]
    elif found := GONE.match(told):
        yield _whose(found["old"])
    elif found := WITHOUT.match(told):
        yield found["who"], ANY, found["old"] or found["no"]
    elif found := TOOK_FROM.match(told):
        yield "", OFFICE, found["old"]
    elif found := REPLACED.match(told) or SUCCEEDED.match(told):
        if not found.groupdict().get("what"):
            yield "", ANY, found["old"]
    elif found := ARROW.match(told) or OUT.match(told):
        yield "", ANY, found["old"] or found["out"]


def _whose(thing: str) -> tuple[str, str, str]:
    """Of "my lease": the lease, whatever is told of it, is no more; and mine it was."""
    first, _, rest = thing.partition(" ")
    whose = {"my": "i", "the": "", "our": ""}.get(first.lower(), re.sub(r"['’]s$", "", first))
    return whose, THING, rest


def switcher(who: str, what: str | None) -> str:
    """Who has the other thing now: of "the doctor switched me from A to B" it is me."""
    if what and what.lower() in _SOMEBODY:
        return _SOMEBODY[what.lower()]
    return "" if who.lower() in ("we", "the team") else who


def came(told: str) -> Iterator[tuple[str, str]]:
    """Who has what since a change that names both: "we switched from A to B"."""
    if found := SWITCHED.match(told) or SWAPPED.match(told):
        what = found.groupdict().get("what")
        if not what or what.lower() in _SOMEBODY:
            yield switcher(found["who"], what), found["new"]
    elif found := REPLACED.match(told) or SUCCEEDED.match(told) or ARROW.match(told):
        yield "", found["new"]


def parted(told: str) -> Ended:
    """Of "Chris and I broke up": they are no couple any more."""
    if found := PARTED.match(told) or PARTED_BOTH.match(told):
        for attribute in COUPLE:
            yield found["who"], attribute, found["old"]
            yield found["old"], attribute, found["who"]
