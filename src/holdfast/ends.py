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
    r"|has a)\b|->|=>|→",
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
DROPPED = _pattern(
    rf"^{WHO} {HAVE}{_JUST}"
    r"(?:quit|lost|gave up|given up|ditched|dropped out of|dropped"
    r"|cancelled|canceled|left|sold|wiped"
    r"|uninstalled|scrapped|abandoned|got rid of|gotten rid of|moved (?:away from|off)"
    r"|stepped down as|resigned as|retired as|resigned from|let (?=.* (?:lapse|expire|run out)$))"
    r" ?(?:on |with )?"
    r"(?:(?:my|his|her|their|the) (?:job|position|role|post) (?:at|with|in) )?"
    r"(?P<old>[^;?!]+?)(?:,? (?:and|to|for) .*| lapse| expire| run out)?$"
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


def over(told: str) -> Ended:
    """What a statement says is no more, whatever the words in which it was told."""
    yield from _left(told)
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
    elif found := DROPPED.match(told):
        yield found["who"], ANY, found["old"]
        if up := SIGNED_UP.match(found["old"]):
            yield found["who"], f"{ANY} signed", up["thing"]
    elif found := HANDED.match(told):
        yield found["who"], ANY, found["old"]
    elif found := REPLACED.match(told) or SUCCEEDED.match(told):
        if not found.groupdict().get("what"):
            yield "", ANY, found["old"]
    elif found := ARROW.match(told) or OUT.match(told):
        yield "", ANY, found["old"] or found["out"]


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
