"""How much a statement tells: words that praise, feel, cheer or stand for anything tell nothing.

Chats between friends are full of them, and no form gives them away: "I'm not giving up", "moments
like this remind me why I do it". So what is left of a sentence without such words is counted.
"""

from __future__ import annotations

import re

from holdfast import speech, text

LEAST = 2  # words of substance that a statement has
LEANING = 3  # one with no more may need what was said before it
FULL = 3  # words of substance of what speaks for itself
FEW_LIGHT = 4  # or one, beside so few others, if it is told of the speaker: "I love live music"
PLAIN_LIGHT = 5  # or so few, if none of them is a verdict or a feeling
FEWER_LIGHT = 1  # or one that is only said to be theirs: "dance is my passion"
JUDGED = 3  # with no more than so many, a verdict on what is nobody's tells nothing

# How good it is, and how it feels.
_VERDICTS = """
    accepted adorable alone amazed amazing anxious awesome awful bad beautiful best better blessed
    bold brave breathtaking bright brilliant bummer bumpy calm calming captivating cathartic
    challenging cheerful chill chilled-out colorful comforting confident contagious cool cozy crazy
    crucial cute delicious delightful determined difficult eager easy electric empowered empowering
    encouraged encouraging energizing enjoyable enlightening epic essential excellent excited
    exciting exhausting extraordinary eye-opening fab fabulous fantastic fascinating favorite fine
    fired fulfilled fulfilling fun funny glad good gorgeous grateful great hard happier happy
    heartwarming hectic helpful hopeful horrible hot humble humbling important impressed impressive
    inclusive incredible indescribable insane inspired inspiring intense interesting invaluable
    invigorating joyful keen key lively lovely loving lucky magical majestic meaningful mesmerizing
    mind-blowing motivated motivating moving necessary nerve-wracking nervous nice optimistic
    outstanding overwhelmed overwhelming passionate peaceful perfect phenomenal pleased positive
    powerful precious pretty priceless proud pumped rad ready refreshed refreshing relaxed relaxing
    relieved remarkable resilient rewarding rough sad satisfied satisfying scary serene sorry
    soothing special spectacular stoked stressful striking strong stronger stunning super superb
    supportive surreal sweet terrible terrific thankful therapeutic thought-provoking thrilled
    thrilling touching tough tranquil tricky true unbelievable unforgettable uplifting unreal
    annoyed annoying assured awkward certain content delighted disappointed elated embarrassed
    frustrated frustrating jealous nostalgic shocked sure surprised upset weird worried valuable
    vibrant vital warm welcoming wicked wild wonderful worth worthwhile wow
"""
_FEELINGS = """
    acceptance affection amazement appreciate appreciation beauty belief believe blast bond bonding
    calmness cherish comfort compassion confidence connected connection courage creativity
    dedication delight determination dream embrace empathy emotion encourage encouragement energy
    enjoy excitement faith feel feeling fulfillment grateful gratitude grit growth happiness harmony
    heart hope imagine inspiration inspire joy kindness laugh laughter love magic motivate
    motivation optimism passion patience peace perseverance perspective positivity pride purpose
    resilience respect self-doubt serenity smile soul spirit strength support thrill tranquility
    treasure trust unity vibe warmth willpower wish wonder
"""
# What stands for anything.
_THINGS = """
    adventure anybody anyone anything aspect back balance bit bunch chance change chapter choice day
    detail difference direction down effect effort end everybody everyone everything experience fact
    folk future goal guy hurdle idea impact individual journey kind lesson life lot meaning memory
    mind mix moment nobody nothing obstacle opportunity other ourselves part past path people person
    picture place point possibility potential power progress reality reason reminder result reward
    ride self sense setback side situation somebody someone something soon sort step story stress
    struggle stuff success thing time ton touch trick type up ups way while word work world yourself
    pic photo thought news gossip clue
"""
# What anybody does with it.
_DOINGS = """
    achieve add agree allow appear bear become begin being brighten bring can capture care carry
    chase check cheer come complete conquer continue count deserve do done dwell end enable ensure
    excel expect experience face fall figure fill find fire focus follow force forget get give go
    gonna gotta grow guess handle hang happen have hear help hit hold include involve juggle keep
    know learn let lie lift like listen live look lot make manage matter mean miss motivate move
    must need offer open outweigh overcome pass picture pop power prove pursue push put quit reach
    realize reflect relate rely remain remember remind represent root savor say see seem set share
    shine should shout show sound spread stand start stay step stick stop strive struggle succeed
    suck suppose surround take tell thank think thrive took tough treat trust try turn understand
    use value wanna want welcome went will wish worry came felt found gave given gone kept knew made
    meant said saw shown stuck taken told thought understood had has was were been
"""
_SMALL = """
    able about above absolutely across actually after again against ago ahead all almost along
    alongside already also alright although always amid among another any anymore anyway apart
    around as awhile away based because before behind bigger biggest both cause certainly complete
    completely constantly couple currently deeper deeply definitely despite different down during
    each easily else enough entire especially even eventually ever every exactly extra extremely far
    few finally first forever forward full fully further genuinely greater hardly higher highly
    honestly however huge hugely incredibly inside instead just kinda last lately later least less
    like literally little long longer lots main many maybe more most mostly much near nearly never
    new next no not now off often ok okay once one only out outside over overall own particularly
    past pretty probably quite rather real really recently right same second seriously similar
    simple simply since small so some sometimes somewhat somewhere soon sort specially still such
    super surely than thankfully then there third though through throughout tiny today together
    tonight too top totally toward towards truly two under until up upon usually very way well
    whatever when whenever where wherever whether which while whoever whole why wholeheartedly
    within without wo ca yep yes yet yup cuz em gonna hey fam thru tho oh
"""
_WORD = re.compile(r"[^\W_][\w'’+#-]*")
# "I was so elated": who somebody is, is learned before that is asked.
_MOOD = re.compile(
    r"I(?:['’]m| am| was|['’]ve been| have been| feel| felt)"
    r"(?: (?:\w+ly|so|very|super|just|too|quite|pretty|kinda|a bit))* [a-z]+"
    r"(?: (?:already|now|lately|today|again|too|these days|right now))*[.!]*$"
)
_CLIPPED = re.compile(r"(?:n['’]t|['’]\w*)$")
_TO_YOU = re.compile(
    r"\b(?:you|your)\b(?! (?:recommended|gave|told|mentioned|suggested|said))", re.I
)
# "I painted it": one word of substance, and what it is about is told elsewhere.
_UNSAID = re.compile(
    r"(?<!\band )(?<!\bbut )(?<!, )(?<!\bcause )(?<!\bthat )(?<!- )\b"
    r"(?:it|them|him|hers?|his|something|someone|a few more|(?:that|this|these|those|one|some more)"
    r"(?=\W*$| (?:is|was|too|in|on|at|for|to|and|so|or|yet)\b))\b",
    re.IGNORECASE,
)
_A_THING = re.compile(r"\b(?:the|an?|my|our|his|her|their) \w", re.IGNORECASE)
_OWN = re.compile(r"(?:\w+,? ){0,3}(?:I\b|[Ww]e\b)")


def _forms(block: str) -> set[str]:
    """The words and what they become; not by their stems, for "important" has that of "import"."""
    found = set()
    for word in block.split():
        short = word[:-1] if word[-1] in "ey" else word
        doubled = word + word[-1]
        found |= {word, f"{word}s", f"{word}es", f"{word}d", f"{word}ed", f"{word}ing"}
        found |= {f"{short}ing", f"{short}ies", f"{short}ied", f"{doubled}ing", f"{doubled}ed"}
    return found


VERDICTS = frozenset(_VERDICTS.split()) | _forms(_FEELINGS)
LIGHT = VERDICTS | _forms(_THINGS + _DOINGS) | frozenset(_SMALL.split()) | text.STOP
_ADVERB = r"(?: (?:so|really|very|just|such|an?|the|super|quite|truly|always|also|\w+ly))*"
_VERDICT = re.compile(rf"(?:\b(?:is|are)|['’]s){_ADVERB} (?:{'|'.join(_VERDICTS.split())})\b")
# "Dune is amazing": no more than that, of whatever has a name.
_PRAISE = re.compile(
    rf"(?:\b(?:is|are|was|were|sounds?|looks?)|['’]s){_ADVERB}"
    rf" (?:{'|'.join(_VERDICTS.split())})(?: it)?\W*$"
)


def idle(told: str) -> bool:
    """True for a sentence that tells nothing of anybody but how it feels, or what all know."""
    heavy, light, judged, named = _weighed(told)
    theirs = speech.first_person(told) or speech.of_us(told)
    if _MOOD.match(told) or (judged and not named and _TO_YOU.search(told)):
        return True
    if not theirs and _PRAISE.search(told):
        return True
    if heavy >= LEAST:
        verdict = judged and (heavy <= JUDGED or _VERDICT.search(told) is not None)
        return verdict and not named and not theirs
    if heavy == 0 or (judged and not theirs) or not (theirs or named):
        return True
    if _UNSAID.search(told, 1) and not named:
        return True
    own = FEW_LIGHT if judged else PLAIN_LIGHT
    return light > (own if _OWN.match(told) or named else FEWER_LIGHT)


def unsaid(told: str) -> bool:
    """True if what little it tells is of something that was named elsewhere: "I finished it"."""
    heavy, _, _, named = _weighed(told)
    return heavy < LEAST and not named and leans(told)


def leans(told: str) -> bool:
    """True if only what was said before tells what its "it" is: "I've had it since Monday"."""
    found = _UNSAID.search(told, 1)
    if found is None or _weighed(told)[0] > LEANING or speech.of_relative(told):
        return False
    so_far = told[: found.start()]
    before, _, _, named = _weighed(so_far)
    least = 1 if _A_THING.search(so_far) else LEAST  # "I stopped the magnesium because it hurt"
    return before < least and not named


def adds(told: str) -> bool:
    """True for a sentence that says more of what was said before it than how good it is."""
    heavy, light, _, _ = _weighed(told)
    return heavy >= LEAST or (heavy == 1 and light <= FEW_LIGHT)


def void(told: str) -> bool:
    """True if no word of it has any substance."""
    return _weighed(told)[0] == 0


def full(told: str) -> bool:
    """True for a sentence that tells enough to be known again, whatever it points at."""
    heavy, light, judged, _ = _weighed(told)
    return heavy >= FULL and (not judged or heavy >= light)


def _weighed(told: str) -> tuple[int, int, bool, bool]:
    """How many words have substance, how many others are no function words; a verdict, a name?"""
    heavy, light, judged, named = set(), set(), False, False
    for found in _WORD.finditer(told):
        word = _CLIPPED.sub("", found[0]).casefold()
        inside = found.start() > 0 and found[0][0].isupper() and word != "i"
        name = inside or any(map(str.isdigit, word))
        named = named or name
        if name or word not in LIGHT:
            heavy.add(word)
        elif word not in text.STOP:
            light.add(word)
            judged = judged or word in VERDICTS
    return len(heavy), len(light), judged, named
