"""Words that mean the same where something is said of somebody: "supper" is "dinner".

Only such as can stand for each other whatever is said of them: who is "afraid" of the dark is
"scared" of it. What is merely near ("house" and "flat", "red" and "pink") is left apart, for there
one may have replaced the other.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast import text

_ALIKE = """
dinner supper|flat apartment|film movie|car auto automobile|couch sofa|child kid|bike bicycle
photo picture|holiday vacation|cellar basement|doctor gp physician
afraid scared frightened|answer reply respond response|class course lesson
begin start commence|rehearse practise practice|parcel package|mobile cellphone
fridge refrigerator|trash rubbish garbage|buy bought purchase|sell sold|teach taught|keep kept
run ran|drive drove driven|eat ate eaten|drink drank drunk|write wrote written
speak spoke spoken|sleep slept|meet met|build built|hold held|send sent|pay paid
sing sang sung|swim swam swum|ride rode ridden|wear wore worn|grow grew grown|fly flew flown
take took taken|give gave given|choose chose chosen|lead led|find found|lose lost|spend spent
feed fed|see saw seen|repair mend|ill sick unwell|broken defective|salary wage|wed marry
notebook laptop|colour color|favourite favorite|theatre theater|centre center
sweater jumper pullover|trousers pants|mother mum mom mummy mam
father dad daddy|grandmother grandma gran granny|grandfather grandpa granddad grandad
puppy pup|kitten kitty|employee staffer|pupil schoolchild|exam examination
lecturer professor|cab taxi|underground tube subway metro|lorry truck|motorbike motorcycle
plane airplane aeroplane|tap faucet|stove cooker|painkiller analgesic|tablet pill
pharmacy chemist|hoover vacuum|nappy diaper|pram stroller|depart departure|arrive arrival
purchase procurement|repo repository
docs documentation|config configuration|admin administrator|auth authentication
staging preproduction|prod production|retro retrospective|standup stand-up|teacher instructor
approve approval|choir chorus|garden yard|licence license
deploy deployment
"""
ALIKE = {
    text.stem(word): text.stem(words[0])
    for words in (line.split() for line in _ALIKE.strip().replace("\n", "|").split("|"))
    for word in words
}


@lru_cache(maxsize=4096)
def terms(said: str) -> tuple[str, ...]:
    """The terms of what is said, each as the word that stands for all of its meaning."""
    return tuple(ALIKE.get(term, term) for term in text.terms(said))
