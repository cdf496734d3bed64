"""How facts are said in English: the forms that `slots` reads, as patterns made of phrases.

A block of phrases is alternatives; a line end parts them as `|` does; `~` is a blank that counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Pattern = re.Pattern[str]


def alternatives(block: str) -> str:
    """A block of phrases as one group; line ends part alternatives as bars do."""
    lines = (line.strip() for line in block.splitlines())
    return f"(?:{'|'.join(line for line in lines if line)})".replace("~", " ")


def _pattern(form: str) -> Pattern:
    return re.compile(form, re.IGNORECASE)


BE = alternatives("is|are|am|has been|have been|will be|is going to be")
WAS = alternatives("is|are|am|was|were|got|has been|have been|will be")
HAVE = "(?:has |have |had )?"
ADVERB = alternatives(
    """now~|also~|currently~|actually~|really~|just~|still~|recently~|finally~|always~|already~
    both~|mostly~|usually~|absolutely~|only~"""
)
# Nobody is called "our": what follows is then a noun, not what they do ("our support hours").
_NO_END = "".join(rf"(?<!\b{word})" for word in "our my the his her their your its".split())
WHO = rf"(?P<who>[^,;:?!]{{1,60}}?{_NO_END})"
VALUE = r"(?P<value>[^;?!]+)"
_OWN = r"my|our|his|her|their|[\w-]+['’]s"

# --- what is not told as true now ---

UNREAL = _pattern(
    r"\?|\b"
    + alternatives(
        """if|would|could|might|should|(?-i:may)|maybe|perhaps|wish|imagine|suppose|pretend|hopes?
        hoping
        plans? to|planning|wants? to|thinking (?:of|about)|considering|dreams?|dreamt|dreamed
        almost|nearly|apparently
        will (?:live|work|join|study|marry|retire)
        unless|whether|probably|possibly|allegedly|supposedly|rumou?rs?|thinks?|believes?|guess
        assume|heard
        what if|as if|used to|back (?:in|then)|formerly|once lived|was going to|tempted
        let['’]s say
        hypothetically|feels? like|seems?|looks like|as though|in (?:the|my|a|her|his) (?:dream
        game|novel
        story|film|movie|play|book|series)|applied|interview(?:ed|ing)?|offered|visit(?:s|ed|ing)?
        basically|practically|virtually|about as
        kidding|joking|lol|yeah,? right|sure,? and|when pigs fly|character|says?|said|told|claims?
        claimed
        wrote|writes|asked|quoted|according to|years ago
        at (?:my|our|their|his|her) (?:old|last|previous) \\w+
        as a (?:kid|child|student)|in (?:my|her
        his) (?:twenties
        youth|childhood)|until (?:19|20)\\d\\d|for a (?:week|day|weekend|month|while)
        on (?:holiday|vacation)|jokes?|sometimes|occasionally|once in a while|at times|when it \\w+
        in (?:winter|summer|autumn|spring)|every now and then|on (?:rainy|sunny|some) days"""
    ).replace("\\\\", "\\")
    + r"\b|/s\b|[“”\"]|(?:^|\s)['‘][A-Za-z]"
)
JOKE = _pattern(
    r"\b(?:sure,? and|yeah,? (?:right|sure)|oh great|as if|when pigs fly|lol)\b|/s\b"
    r"|^oh,? (?:sure|yeah|yes|right|joy|perfect|wonderful|brilliant|fantastic|lovely|because)\b"
)
CHANGE = _pattern(
    r"\b"
    + alternatives(
        """actually|now|no longer|any ?more|correction|i meant|instead|turns out|as of|from now on
        changed
        switched|moved|migrated|replaced|new|renamed|has become|became|these days|quit|stopped
        left|gave up
        just|updated?|rescheduled|postponed|sorry|wait|misread|mixed|mistyped|misheard|typo
        change of plans?|lately|scratch that|not \\w+ but|after all"""
    )
    + r"\b"
)

NOW = _pattern(
    r"\b"
    + alternatives(
        """now|nowadays|these days|from now on|instead|currently|any ?more|no longer|as of
        since (?:last |this )?[A-Z0-9]\\w+"""
    )
    + r"\b"
)
MORE = _pattern(r"\b(?:also|too|as well|another|both|besides|additionally|one more)\b")

# --- what stands around it ---

# What somebody says before they put right what they said.
MISTAKEN = r"""(?:(?:i|we) (?:misread|mixed|misremembered|mistyped|misheard|confused|misspoke
    botched|got|had)(?: (?:it|that|this|them))?(?: up| wrong)?|typo(?: on my side| of mine)?
    change of plans?|update from \w+|not [\w.-]+)(?=[,:;.]\s)""".replace("\n    ", "|")
LEAD = _pattern(
    "^(?:"
    + alternatives(
        f"""{MISTAKEN}
        actually|correction|sorry|wait|update|fyi|ok|okay|well|so|now|no(?! more)|and|but|also
        by the way|btw|speaking of [\\w '-]{{2,40}}(?=,)
        scratch that|turns out(?: that)?|it turn(?:s|ed) out(?: that)?|as of \\w+
        from now on|these days
        in fact
        i meant|for the record|good news|after all|today|since (?:the )?\\w+|remember(?: that)?
        note(?: that)?
        please note(?: that)?|small correction|by now|meanwhile|(?:on|in
        around) \\d{{4}}(?:-\\d\\d){{0,2}}
        last \\w+|this \\w+|yesterday|recently|i was wrong|my mistake|news|big news|heads up
        to be clear|i misspoke|i was mistaken|my bad|oops"""
    )
    + r"[,:;.!—–-]*\s+)+"
)
CLAUSE = _pattern(
    r",? "
    + alternatives(
        """because~|since~(?!\\w+~?$)|so~|but~|which~|after~|when~|rather than~|instead of~
        and (?:it|i|we|he|she|they)~|while~|though~|although~|as (?:i|we|he|she|they)~
        thanks to~"""
    )
    + r".*$|, not .*$|\s+[-–—]\s+.*$|\s*\(.*$"
    r"|,\s+(?:right|by the way|actually|btw|i['’]m afraid).*$"
    r"|, (?:(?-i:[A-Z])\w+|we|they|i|he|she) (?:does|do|is|are|am|did|has|have)$"
)
_MONTHS = """(?-i:January|February|March|April|May|June|July|August|September|October|November
    December)
    monday|tuesday|wednesday|thursday|friday|saturday|sunday|week|month|year|spring|summer|autumn
    fall
    winter|yesterday|today|then"""
TAIL = _pattern(
    ",? "
    + alternatives(
        f"""now|so far|to date|in total|altogether|from now on|nowadays
        any ?more|any longer|these days|instead|again|already|at the moment|currently
        right now
        after all|too|as well|(?:every|each) \\w+|recently|yesterday|today
        last \\w+|for good|a (?:week
        month|year) ago
        for (?:the|my|our|her|his) \\w+ (?:job|family|sake)|\\w+ (?:weeks|months|years|days) ago
        (?:in the week|on the weekend) of \\d{{4}}-\\d\\d-\\d\\d
        (?:on|in|around|since|as of|until|from) (?:\\d{{4}}(?:-\\d\\d){{0,2}}|(?:last~|next~
        this~)?(?:{_MONTHS})
        (?:last~|this~)?(?:{_MONTHS}) \\d{{4}})"""
    )
    + "$"
)
# What a memory calls whoever it was learned from is their name.
CALLED = _pattern(r"\bthe user\b(?=['’]s\b| [a-z])")
CLIPPED = [
    (_pattern(r"\b(I)['’]m\b"), r"\1 am"),
    (_pattern(r"\b(we|you|they)['’]re\b"), r"\1 are"),
    (_pattern(r"\b(I|we|you|they)['’]ve\b"), r"\1 have"),
    (_pattern(r"\b(he|she|it|that)['’]s\b"), r"\1 is"),
    (_pattern(r"\b(\w+)['’]ll\b"), r"\1 will"),
    (_pattern(r"\b(I)['’]d rather be called\b"), r"\1 prefer to be called"),
    (re.compile(r"^(?:[Pp]lease |[Jj]ust )*[Cc]all me (?=[A-Z])"), "I go by "),
    (_pattern(r"\b(?:can['’]t|cannot)\b"), "can not"),
    (_pattern(r"\b(is|are|was|do|does|has|have|did)n['’]t\b"), r"\1 not"),
]
_TELLS = alternatives(
    """is|are|am|lives?|works?|uses?|speaks?|has|have|moved|likes?|loves?|hates?|no longer|took
    plays?|rides?|drives?|prefers?|goes|got|bought|started"""
)
_NEXT = (
    r"(?:;|,? (?:and|but)(?= (?:i|we|they)['’](?:m|ve|re)\b"
    rf"| (?:i|we|he|she|they|my|our|the|[A-Z]\w+)\b[^,]* {_TELLS}\b)"
    rf"|, so(?=(?: now)? (?:i|we|he|she|they|my|our|his|her|User['’]s)\b[^,]* {_TELLS}\b)"
)
# "My test came back: I'm not allergic", "we changed vets: it is Dr. Pell now".
COLON = _pattern(
    r"^(?P<news>[^\s:]+ [^\s:]+ [^:]{2,80}): "
    r"(?P<rest>(?:i|we|he|she|they|my|our|the|it|[A-Z][\w.]+)\b.*)$"
)
CLAUSES = _pattern(rf"{_NEXT})\s*")
# "I am Ann, I live in Rome", "Tom left, my new manager is Ana": parts too, of what is told as true.
SPLICED = _pattern(
    rf"{_NEXT}|,(?= (?:(?:I|we) (?:{_TELLS}|gave|handed)\b|one (?:is|was)\b"
    r"|(?:my|our|User['’]s) [\w -]{2,30} (?:is|are)\b)))\s*"
)
DEPENDENT = _pattern(
    r"^(?:when|whenever|while|after|before|as|although|though|once|until|because|since|where"
    r"|wherever|on|in|at|during|for|every)\b"
)

# --- denial and change ---

# "The meeting isn't on Monday, it's on Tuesday": what is not so, and what is.
NOT_BUT = _pattern(
    r"^(?P<what>[^,;?!]{2,60}?) (?:is not|are not|is no longer|are no longer) [^,;?!]{1,40}?"
    r"(?:,? but(?: rather)?|[,;] (?:it is|they are|but)) (?P<value>[^,;?!]{1,60})$"
)
# "Our CI used to be Jenkins, now it's Buildkite".
WAS_NOW = _pattern(
    r"^(?P<what>[^,;?!]{2,60}?) (?:used to be|was) [^,;?!]{1,40}?[,;]?(?: but| and)?"
    r"(?: now (?:it is |they are )?|(?: it is| they are) now )(?P<value>[^,;?!]{1,60})$"
)
DENIED = _pattern(
    r"\b"
    + alternatives(
        f"""no longer|can not(?! stand| wait)|(?:do|does|did) not
        (?<=\\b)(?:is|are|am|was|has|have) not
        {HAVE}(?:just~|finally~|recently~)?(?:stopped|quit|given up|gave up)(?: with)?
        (?:is|am|are) done(?: with)?"""
    )
    + r"\b"
)
BASES = dict(
    pair.split(":")
    for pair in """using:use working:work living:live playing:play eating:eat drinking:drink
    smoking:smoke
    driving:drive taking:take speaking:speak studying:study learning:learn having:have liking:like
    supporting:support doing:do being:is practicing:practice owning:own watching:watch""".split()
)


# --- relations ---


@dataclass(frozen=True)
class Form:
    """A relation: its attribute, how it is said, and the words without which it is not said."""

    attribute: str
    pattern: Pattern
    words: frozenset[str]


def form(attribute: str, block: str, ahead: str = "", needs: str = "") -> Form:
    """A relation told as `who phrase value`; `needs` are words of which its value has one."""
    phrases = alternatives(block)
    both = re.sub(r"([a-z]+)(?:([a-z])|\(\?:(es)\))\?", r"\1 \1\2\3", block.replace("~", " "))
    words = frozenset(needs.split()) or frozenset(re.findall(r"[a-z]{2,}", both)) - {"the", "an"}
    return Form(attribute, _pattern(rf"^{WHO} {ADVERB}*{phrases} {ahead}{VALUE}$"), words)


ONE = [
    # What is told with the same verbs as a home comes before it.
    *(
        form(
            what,
            f"""{BE} on(?:~the|~an?)?|{HAVE}(?:upgraded|downgraded|switched|changed|moved
            transferred|went) to(?:~the|~an?)?""",
            ahead=rf"(?=[\w -]+ (?:{what}|{more})$)",
            needs=f"{what} {more}",
        )
        for what, more in (("plan", "tier"), ("team", "squad"))
    ),
    form(
        "shift",
        f"""{BE} on(?:~the)?|works?(?:~the)?|{BE} working(?:~the)?
        {HAVE}(?:switched|changed|moved) to(?:~the)?""",
        ahead=r"(?=[\w -]+ shifts?$)",
        needs="shift shifts",
    ),
    form(
        "school",
        f"goes to|go to|{HAVE}(?:transferred|switched|moved|changed) to",
        ahead=r"(?=[\w .'’-]+ (?:school|elementary|high|academy|college|university|kindergarten)$)",
        needs="school elementary high academy college university kindergarten",
    ),
    form("hours", f"works?|{BE} working", ahead=r"(?=(?:part|full)[ -]?time$)"),
    form("home", f"{HAVE}(?:lives?|resides?|stays?|dwells?|been living) in"),
    form("home", f"{BE} (?:living|based|staying) in"),
    # A street, a hill or a landmark is somewhere in a town: neither ends the other.
    form(
        "home at",
        f"""{HAVE}(?:lives?|resides?|stays?|dwells?|been living) (?:at|on|near|by)
        {BE} (?:living|based|staying) (?:at|on|near|by)""",
        ahead=r"(?!\w+ ?(?:own|sel[fv]))",
    ),
    form(
        "home",
        rf"""{HAVE}(?:just |recently )?(?:moved|relocated|emigrated|moved house)(?: back| over
        ~down| up)?(?: from [\w .'’-]{{2,30}}?)? to
        {HAVE}moved into""",
    ),
    form("employer", f"{HAVE}(?:works?|{BE} working) (?:at|for)"),
    form(
        "employer",
        f"""{HAVE}(?:joined|started (?:working )?(?:at|for)|got hired (?:by|at)
        (?:got|took|found|started|accepted) a (?:new )?(?:job|position|role) (?:at|with)
        accepted an offer (?:from|at))|{WAS} employed (?:by|at)|{WAS} hired (?:by|at)""",
        ahead="(?!the gym|a club|the club|us)",
    ),
    form("job", f"(?:works?|{BE} working|started working) as(?:~an?|~the)?"),
    form("job", f"{HAVE}(?:became|become) an?|(?:was|got|been|is) promoted to"),
    form("age", BE, ahead=r"(?=\d{1,3}(?: years old)?$)"),
    form("age", f"{HAVE}(?:just )?turned", ahead=r"(?=\d)"),
    form("origin", f"{BE} (?:originally )?from|comes? from"),
    form("spouse", f"{BE} married to"),
    form("partner", f"{BE} (?:dating|engaged to|in a relationship with)|dates"),
    form("partner", f"{BE} seeing", ahead="(?-i:(?=[A-Z]))"),
    form("car", f"(?:drives?|{BE} driving)(?:~an?|~the)?"),
    form("name", "is named"),
    form(
        "called",
        "(?:goes|go) by|is called|prefers? to be called|(?:would |['’]d )?rather be called",
    ),
    form("school", f"(?:studies|study|{BE} studying|{BE} enrolled|goes to school) at|attends"),
    form(
        "study", f"(?:studies|study|{BE} studying|majors? in|is majoring in)", "(?!at |for |with )"
    ),
    form("citizenship", f"{BE} an? citizen of"),
    form("plays for", "plays? for"),
    form("reports to", "reports? to"),
    form("sleeps", "(?:goes|go) to bed at|goes to sleep at"),
    form("wakes", "(?:wakes?|gets?|wake) up at"),
    form(
        "meets",
        "(?:meets?|happens|takes place)(?:~every|~each|~on|~at)?",
        ahead=r"(?=\w+days?\b|\d|noon|midnight|(?:every|each|on|at) )",
    ),
    form("grade", f"{BE} in(?:~the)?", ahead=r"(?=\w+ (?:grade|class|year)$)"),
    form("starts", "starts? (?:at|on)"),
    form("costs", "costs?"),
    form("weighs", "weighs?"),
    form("weighs", f"{BE} (?:down|up) to", ahead=r"(?=[\d.,]+ ?(?:kg|kilos?|lbs?|pounds)\b)"),
]
# "I get up at 9 on Sundays" says nothing of the other days.
SOME_DAYS = _pattern(r"^(?P<value>.*\d.*?) (?:on|at) (?P<days>(?:the )?weekends?|\w+days)$")
MANY = [
    form("speaks", f"speaks?|{BE} fluent in"),
    form("allergic", f"{BE} (?:severely~|badly~|deathly~)?allergic to|(?:has|have) an? allergy to"),
    form("uses", f"uses?|{BE} using"),
    form(
        "has",
        "(?:has|have|owns?|keeps?|has got|have got|adopted|got)(?:~an?|~the|~some)?",
        ahead="(?!been )",
    ),
    form("plays", f"(?:plays?|{BE} playing)(?: the)?", ahead="(?!for |at )"),
    form("member", f"{BE} an? member of"),
    form("eats", "eats?|drinks?|takes?"),
    form("knows", f"knows?(?: how to)?|{BE} learning|learns?"),
    form("supports", "supports?"),
    form("watches", f"watch(?:es)?|{BE} watching"),
]
TASTES = [
    form(
        "likes",
        f"""(?:really~|also~|just~)*(?:likes?|loves?|enjoys?|adores?)
        {HAVE}(?:come|came|grown|grew|learned|learnt|started|begun|began) to (?:like|love|enjoy)
        {HAVE}(?:started|begun|began) (?:liking|loving|enjoying)
        {BE} (?:into|fond of|keen on|(?:a )?(?:big~|huge~)?fan of)""",
    ),
    form(
        "dislikes",
        f"""(?:really~|now~)*(?:hates?|dislikes?|detests?|loathes?)|can not stand|went off
        {BE} (?:sick of|tired of|over)""",
    ),
]
# "We have a new accountant, Ms. Duarte", "Clara got a new number, it's 555-0199".
NEW_ONE = _pattern(
    rf"^{WHO} {HAVE}(?:has|have|got|hired|found|is getting|are getting) (?:got )?a new "
    r"(?P<attribute>[a-z][a-z -]+?)(?:,|:|,? called|,? named) (?:it is |that is )?"
    r"(?P<value>(?-i:[A-Z0-9+])[^;?!]*)$"
)
# "We rewrote the frontend in Svelte": what it was made in, or with, before.
REMADE = _pattern(
    rf"^{WHO} {HAVE}(?:just |recently |finally )?(?:rewrote|rewritten|rebuilt|ported|reimplemented"
    r"|converted|remade) (?P<what>(?:the|our|my) [\w -]+?) (?:in|to|into|with|on|using) "
    rf"{VALUE}$"
)
MADE = ("written in", "built in", "built with", "built on")
# "Brightline appointed Marco Reyes as CEO".
APPOINTED = _pattern(
    rf"^{WHO} {HAVE}(?:appointed|named|hired|elected|promoted|made|chose) "
    r"(?P<value>(?-i:[A-Z])[\w.'’-]*(?: (?-i:[A-Z])[\w.'’-]*){0,3}) "
    r"(?:as |to |its |the |our |new )*(?P<attribute>[a-z][a-z -]*)$"
)
# "I take the bus to work", "I bike to work now".
COMMUTE = _pattern(
    rf"^{WHO} {ADVERB}*(?:(?:takes?|rides?|catch(?:es)?) (?:the |my |a )?(?P<value>\w+)"
    r"|(?P<verb>bikes?|cycles?|walks?|drives?|runs?|commutes?(?: by \w+)?)) to "
    r"(?P<to>work|school|the office)$"
)
# "I like my coffee black", "she takes her tea with milk".
SERVED = _pattern(
    rf"^{WHO} {ADVERB}*(?:likes?|takes?|drinks?|prefers?) "
    r"(?:my|our|his|her|their) (?P<what>[a-z]+) (?P<value>[^;?!]+)$"
)
# "We bumped the project to Python 3.12": a product's name and its version.
VERSION = re.compile(r"^(?P<name>[A-Z][\w+#]*(?: [A-Z][a-z]+)?) v?(?P<number>\d[\d.]*)$")
VERSIONED = _pattern(
    rf"^{WHO} {HAVE}(?:just |recently |finally )?(?:upgraded|bumped|updated|moved|migrated"
    r"|downgraded)(?: (?:the |our |my )(?P<what>[\w -]+?))?(?: from .+?)? to (?P<value>.+)$"
)
RUNS = _pattern(rf"^{WHO} {ADVERB}*(?:uses?|runs?(?: on)?|{BE} (?:on|using|running)) {VALUE}$")
# What somebody is at or on, until it is over.
AT = _pattern(
    rf"^{WHO} (?:is|are|am) {ADVERB}*"
    r"(?:(?:on|in|at) (?:an? |the |my |his |her |their )?(?P<on>[a-z][\w -]*)"
    r"|being (?P<done>[a-z]+)ed"
    r"|(?P<doing>[a-z]{2,}ing) (?:an? |the |my |his |her |their )?(?P<value>[^;?!]+))$"
)
HAVE_EVENT = _pattern(
    rf"^{WHO} (?:has|have|attends?|takes?|goes to|go to) an? (?P<event>[\w -]*?[a-z]+) "
    r"(?:on|every|at) (?P<value>[^;?!]+)$"
)
WEEKLY = _pattern(r"\b(?:every|each|\w+days|weekly)\b")
HABIT = _pattern(rf"^{WHO} {ADVERB}*(?P<value>smokes?|drinks?|drives?|vapes?)$")
STATES = alternatives(
    """born|founded|created|developed|written|performed|directed|located|based|associated
    affiliated|employed
    educated|owned|headed|led|hosted|scheduled|assigned|named|called|set|capped|limited|priced
    deployed
    stored|built|licensed|headquartered|published|produced|invented|designed|managed|run|composed
    painted
    sung|played|due|booked|pinned|planned|fixed|kept|maintained|handled|signed|powered|hosting
    dated"""
)
STATE_WORDS = frozenset(re.findall("[a-z]+", STATES))
STATE = _pattern(
    rf"^{WHO} {WAS} {ADVERB}*(?P<state>{STATES})"
    r"(?: (?P<how>by|in|for|with|to|at|on|as|from|under|until))? "
    rf"(?P<of>the [a-z]+ of )?{VALUE}$"
)
OF_KIND = _pattern(
    rf"^{WHO} (?P<verb>plays|speaks|works|worked|died|practices|holds|follows)(?: in)? "
    rf"the (?P<kind>[a-z]+) of {VALUE}$"
)
DIED = _pattern(rf"^{WHO} died (?P<how>in|on|of) {VALUE}$")
IS = _pattern(rf"^{WHO} (?:{BE}|got|{HAVE}gotten) {ADVERB}*(?:an? )?(?P<value>[\w-]+(?: [\w-]+)?)$")
IS_THE = _pattern(rf"^{WHO} {BE} {ADVERB}*(?:an?|the|our|my) (?P<value>[a-z][\w' -]+)$")
# "I learned to swim": what one can do, and could not.
LEARNED = _pattern(
    rf"^{WHO} (?:can (?:now )?|{HAVE}(?:learned|learnt|learned how|taught myself) to )"
    r"(?P<value>[a-z][\w -]*)$"
)
# What something does that is in a state again: "the bridge reopened", "the printer works again".
INTO_STATE = [
    (_pattern(rf"^(?P<attribute>(?:the|my|our) [\w -]+?) {HAVE}(?:just )?{verbs}$"), state)
    for verbs, state in (
        ("(?:re)?opened(?: again)?", "open"),
        ("(?:closed(?: down)?|shut(?: down)?)", "closed"),
        ("(?:expired|lapsed|ran out)", "expired"),
        ("(?:works? again|is working again|was repaired|got fixed|has been repaired)", "working"),
        ("(?:broke(?: down)?|stopped working|died|crashed)", "broken"),
        ("(?:went down|is down again)", "down"),
        ("(?:came back(?: up)?|is back(?: up)?)", "back"),
    )
]
PREFER = _pattern(
    rf"^{WHO} {ADVERB}*prefers? (?P<value>.+?) (?:over|to|rather than|instead of) (?P<other>.+)$"
)
FAVOURITE = _pattern(
    r"^(?P<who>.+?)(?:['’]s)? (?:new |all-time )?favou?rite (?P<what>[\w -]+?) "
    rf"(?:{BE}|{HAVE}(?:changed to|become|became)) (?:now )?{VALUE}$"
)
NUMBERS = "no one two three four five six seven eight nine ten eleven twelve twenty".split()
COUNT = _pattern(
    rf"^{WHO} (?P<verb>(?:has|have) (?:now )?(?:got )?"
    r"|owns? |needs? |takes? |pays? |charges? |drinks? |eats? |smokes? |sleeps? |works? )"
    rf"(?P<value>\d[\d.,]*|{'|'.join(NUMBERS)}) (?P<what>[\w -]+?)"
    r"(?:,? and (?:an? |the |my )?(?P<more>[\w -]+))?$"
)
# A count that goes on: "I finished my 6th project", "which brings my total to 32 species".
ORDINAL = _pattern(
    rf"^{WHO} {ADVERB}*{HAVE}{ADVERB}*(?:finished|completed|read|done|had|seen|saw|made|bought"
    r"|wrote|written|ran|run|tried|attended|watched|played) (?:my|our|his|her|their) "
    r"(?P<value>\d+)(?:st|nd|rd|th) (?P<what>[\w -]+)$"
)
TOTAL = _pattern(
    rf"\b(?:br(?:ings|inging|ought)|makes|making|takes|taking|puts|putting) (?P<who>{_OWN}) "
    r"(?:total |overall )*(?:(?P<of>[\w -]+?) )?(?:total|count|tally) (?:up )?to "
    r"(?P<value>\d[\d.,]*)(?: (?P<what>[\w -]+))?"
)
SUBJECT = _pattern(r"^(?:the \w+|(?-i:[A-Z])[\w'’-]+)")
# What a total may be of: "I have managed to spot 27 different species".
DONE = _pattern(
    rf"^{WHO} (?:has|have) {ADVERB}*(?:[a-z]+ to )?(?!got )(?P<verb>[a-z]+) "
    rf"(?P<value>\d[\d.,]*|{'|'.join(NUMBERS)}) (?:different )?(?P<what>[\w -]+)$"
)
USE_FOR = _pattern(
    rf"^(?:for (?P<first>[\w' -]+?),? )?{WHO} {ADVERB}*{HAVE}"
    + alternatives(
        f"""uses?|{BE} using|runs?(?: on)?|chose|picked|will use|decided (?:to use|on)|settled on
        went with|go with|goes with|{BE} going with|adopted|standardi[sz]ed on"""
    )
    + r" (?P<value>[^;?!]+?)(?: (?:for|as) (?P<what>[^;?!]+))?$"
)
NAMED = _pattern(
    r"^(?P<attribute>(?:the|my|our|his|her|their|[\w .'’&-]+?['’]s?) [\w .'’/&+-]+?) "
    rf"{BE} {ADVERB}*(?P<how>(?:on|at|in|by|due|for|from|called|named|to|with) )?{VALUE}$"
)
BECAME = _pattern(
    r"^(?P<attribute>(?:the|my|our|his|her|their|[\w .'’&-]+?['’]s?) [\w .'’/&+-]+?) "
    rf"{HAVE}(?:{WAS} )?(?P<to>"
    + alternatives(
        """changed to|moved to|been moved to|becomes?|became|rescheduled to|postponed to
        renamed to|set to|switched to|(?:pushed|shifted|delayed|slipped|brought) (?:back~|forward~
        out~)?to
        (?:went|goes|rose|rises|grew|climbed|jumped|fell|dropped|sank|shrank|increased|decreased
        raised|lowered|cut|extended|shortened) (?:up~|down~)?(?:from [^,;?!]+ )?to"""
    )
    + rf") {VALUE}$"
)
# A thing with a verb of its own: "the gym opens at 7", "my bus leaves from Oak Street".
HABITUAL = _pattern(
    rf"^(?P<who>(?:the|my|our) [\w -]+?|[\w ]+['’]s [\w -]+?) {ADVERB}*"
    r"(?P<verb>(?!is |has |was |\w+days )[a-z]+s) "
    r"(?P<how>at|on|by|with|every|until|from) (?P<value>[A-Z0-9].*|\w+day|noon|midnight)$"
)
SIMPLE = _pattern(
    rf"^(?P<who>I|we|[A-Z][\w'’-]+|(?:the|my|our) \w+) {ADVERB}*(?P<value>[a-z][^;?!]+)$"
)
# Anybody who does anything, in words of their own; what somebody is has forms above.
FRAMED = _pattern(
    r"^(?P<who>(?:the|my|our|his|her|their) \w+|(?!(?:the|my|our|his|her|their)\b)[\w'’-]+"
    r"(?: (?-i:[A-Z0-9])[\w'’-]*)?) "
    rf"(?:(?:is|are|am) (?=[a-z]{{3,}}ing ))?{ADVERB}*"
    r"(?P<value>(?!(?:is|are|am|was|were|be|been)\b)[a-z][^;?!]+)$"
)
# What somebody does somewhere, or with somebody: "the choir meets in the church hall".
PLACED = _pattern(
    r"^(?P<who>(?:the|my|our|his|her|their) \w+|(?!(?:the|my|our|his|her|their)\b)[\w'’-]+) "
    rf"(?:(?:is|are|am|has been|have been) (?=[a-z]{{2,}}(?:ing|ed) ))?{ADVERB}*"
    r"(?P<verb>(?!(?:is|are|am|was|were|goes?|comes?|talks?|listens?|looks?)\b)[a-z]{3,})"
    r"(?: (?P<what>[\w'’-]+(?: [\w'’-]+){0,2}?))? "
    r"(?P<how>in|at|on|with|from|under|near|by|until|through|as) (?P<value>[^;?!]{2,50})$"
)
# The same of a thing, by whomever: "we heat the hall with gas", "the hall is heated with gas".
_HOW = r"(?P<how>in|at|on|with|from|by|through) (?P<value>[^;?!]{2,50})$"
TREATED = (
    _pattern(
        r"^(?:i|we|they) (?:now |have |has )?(?P<verb>[a-z]{3,}) (?P<what>(?:the|our|my) [\w-]+"
        rf"(?: [\w-]+)?) {_HOW}"
    ),
    _pattern(
        r"^(?P<what>(?:the|our|my) [\w-]+(?: [\w-]+)?) (?:is|are|has been|have been) "
        rf"(?:now )?(?P<verb>[a-z]{{2,}}ed) {_HOW}"
    ),
)
# "We migrated to GitHub Actions for CI": what is used for what.
MOVED_FOR = _pattern(
    rf"^(?P<who>[\w'’-]+|our team|the team) {HAVE}(?:just |recently |finally )?"
    r"(?P<verb>switched|migrated|changed|transitioned|moved)(?: over)? to (?P<value>[^;?!]+?) "
    r"(?:for|as) (?:the |our |my |their )?(?P<what>[\w -]+)$"
)
NO_USE = frozenset("work school good now love family health fun college university life".split())
# Verbs of change, with what a thing is changed to after them. What moves may be somebody.
_MOVES = "moved|relocated|shifted|switched|transferred|migrated|pushed|went|transitioned"
_ALTERS = alternatives(
    """changed|updated|raised|increased|lowered|reduced|cut|reset|renamed|bumped|extended|shortened
    rescheduled|postponed|delayed|upgraded|downgraded|expanded|doubled|rose|fell|grew|shrank|dropped
    decreased|adjusted|corrected|converted|rebranded|grown|risen|fallen|shrunk"""
)
_HAD_TO = "(?:had to|have to|needed to) (?:move|change|push|postpone|raise|cut|lower|rename|switch)"
_THING = r"(?P<thing>(?:the|my|our|his|her|their|(?-i:[A-Z])[\w-]*['’]s) [\w '’-]{2,50}?)"
_TURNED = (
    rf"(?P<verb>(?P<moves>{_MOVES})|{_ALTERS})(?: (?:back|forward|out|up|down|over))?"
    r"(?: from [^,;?!]+?)?"
)
TURNED = (  # the thing by itself, or by somebody
    _pattern(rf"^{_THING} {HAVE}(?:(?:is|are|was|were|got|been|being) )?{_TURNED} to {VALUE}$"),
    _pattern(
        rf"^{WHO} {HAVE}(?:just |recently |finally )?(?P<verb>{_ALTERS}|{_MOVES}|set|{_HAD_TO}) "
        rf"{_THING}(?: (?:back|forward|out|up|down|over))?(?: from [^,;?!]+?)? to {VALUE}$"
    ),
)
MEASURED = _pattern(rf"^(?P<value>\d[\d.,]*|{'|'.join(NUMBERS)}) (?P<what>[a-z][\w -]*)$")
# "They raised the API limit to 500": what it is changed to.
CHANGED_TO = _pattern(
    rf"^{WHO} {HAVE}(?:just |recently |finally )?(?P<verb>"
    + alternatives(
        """changed|updated|raised|increased|lowered|reduced|cut|set|moved|pushed|bumped|extended
        shortened|reset|renamed|rescheduled|postponed"""
    )
    + r") (?P<owner>my|our|the|his|her|their) (?P<attribute>[\w -]{2,40}?)(?: from [^,;]+?)? to "
    + rf"{VALUE}$"
)
# "Dave is my new boss".
INVERTED = _pattern(
    r"^(?P<value>(?-i:[A-Z])[\w.'’-]*(?: (?-i:[A-Z])[\w.'’-]*){0,3}) "
    r"(?:(?:is|will be) (?=now |(?:\S+ )?new )(?:now )?|became |has become )"
    r"(?P<attribute>(?:my|our|the|his|her|their|User['’]s) [\w -]+)$"
)
# "Home is Lisbon for me", "Lisbon is home", "I call Lisbon home".
HOME = [
    _pattern(
        form.replace("PLACE", r"(?P<value>(?-i:[A-Z])[\w.'’-]*(?: (?-i:[A-Z])[\w.'’-]*){0,2})")
    )
    for form in (
        r"^home is (?:now )?(?:in )?PLACE(?: for (?P<who>me|us|(?-i:[A-Z])\w+))?$",
        r"^PLACE is (?:now )?(?:(?:my|our) )?(?:new )?home(?: for (?P<who>me|us|(?-i:[A-Z])\w+))?$",
        r"^PLACE is (?:now )?(?P<who>User['’]s) (?:new )?home$",
        r"^PLACE is (?:now )?where (?P<who>I|we|(?-i:[A-Z])\w+) lives?(?: now)?$",
        r"^(?P<who>I|we|(?-i:[A-Z])\w+) (?:now )?calls? PLACE (?:my |our |their )?home$",
    )
]
OF = _pattern(r"^the (?P<attribute>[\w -]+?) (?:of|in|for|at|from) (?P<who>.+)$")
OWNED = _pattern(r"^(?P<who>.+?)['’]s? (?:new |current |main |own |latest )*(?P<attribute>.+)$")
DAY_AND_HOUR = _pattern(r"^(?P<day>(?:every |each )?\w+days?) at (?P<hour>\d.*|noon|midnight)$")
CLOCK = re.compile(r"\d{1,2}(?::\d\d)?\s*(?:am|pm)?$|noon|midnight|\d{1,2} o'?clock", re.IGNORECASE)
