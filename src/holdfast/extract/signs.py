"""By what a sentence is known: patterns for what is not worth keeping, and for what it is.

Each is about English; sentences in other scripts are kept by their shape alone (`rules`).
"""

from __future__ import annotations

import re

from holdfast.forms import MISTAKEN, alternatives
from holdfast.topics import ALTERED


def _words(block: str) -> re.Pattern[str]:
    """Somewhere in the sentence."""
    return re.compile(rf"\b{alternatives(block)}\b", re.IGNORECASE)


def _start(block: str) -> re.Pattern[str]:
    """At its beginning, with `match`."""
    return re.compile(rf"{alternatives(block)}\b", re.IGNORECASE)


# --- what gives nothing ---

QUESTION = re.compile(r"[?？][\"'”’)!！]*$")
ASKING = _start(
    r"""
        (?:who|what|when|where|why|how|which)(?:['’]s|['’]d|['’]re)? (?:is|are|was|were|do
        does|did|can|could|would|should|will|have|has|about|come|many|much|long|often)|(?:do
        does|did|can|could|would|will|have|has|are|is|was|were|should|any|wanna
        want to) (?:you|u|i|we|it|there|that|this|he|she|they|your|the)|(?:tell me
        let me know|i wonder|i was wondering|wondering
        i(?:['’]m|~am) (?:also~|just~|really~|actually~)?(?:wondering|curious)
        i(?:['’]d|~would|~want) (?:really~|also )?(?:like to|love to|to)? ?know(?! how))
    """
)
GREETING = _start(
    r"""
    hi|hey|hello|yo|howdy|greetings|good (?:morning|evening|afternoon|night|luck)|welcome
    bye|goodbye|see you|see ya|talk (?:to you )?(?:soon|later)|take care|catch you|later|cheers
    thanks|thank you|thx|any ?time|congrats|congratulations|happy (?:birthday|new year)|no problem
    sorry
    you['’]re welcome|my pleasure|sure|okay|ok|yep|yeah|yes|no(?! more)|nope|wow
    cool|great|nice|awesome
    absolutely|definitely|exactly|totally|agreed|got it|sounds (?:good|great|like)|for sure
    i (?:totally |completely |100% |really )?(?:agree|understand|see|hear you|appreciate|get it)
    of course|good (?:to|for|idea|point|call)|long time no|keep (?:it )?(?:up|me|on|going)
    hang in|can['’]t wait|nice to|great to|what an?|how
    let['’]s(?! (?:use|go with|stick (?:with|to)|settle on|switch to|move to|adopt)\b)
    """
)
# Half a sentence: who or what does it stands in another, or the main clause never comes.
FRAGMENT = _start(
    r"""
    (?:(?:really|even|still|also|truly|definitely|certainly|sure) )?(?:made|makes|gives|gave
    reminds|reminded|brings|brought|helps|helped|keeps|kept|shows|showed|taught|teaches|lets
    felt|means|meant|been|had|started|gonna|gotta|love|loved|loving|want|wanted|appreciate|doubt
    focused|thrilled|happy|proud|grateful|inspiring|inspires|inspired|amazing|crazy|enjoy|enjoyed
    motivates|encourages|allows|turned|became|wanting|hoping|would|could|should|can['’]?t|won['’]?t
    couldn['’]?t|didn['’]?t|doesn['’]?t|was|were|is|are|am|has|will|may|need|plan|think|believe
    know)
    who|(?:when|where|why|how|what) (?:though|then|again)|question
    don['’]?t (?!ever|use|deploy|try|bother|run|push|merge|send|skip|mock|touch|feel|want|have|need)
    especially (?:when|if|since|because|with)|fingers crossed|bet|wish|wishing|guess|hope|hopefully
    looks like|feels like|sounds like
    i (?:do|did|will|can|have|am|was|would|could)(?:n['’]t)?(?=[.!,]|$)
    something (?:nice|good|great|fun|new|special|else|to|that|about)|someone (?:who|to|that)
    almost as|such an?|so (?:much|many|far|excited|happy|proud|glad|good|true)
    (?:since|because|when|while|although|even though|though|unless|until|especially when|after
    before
    whenever|as soon as) (?:i|we|he|she|they|it|you)(?=\b[^,;–—-]*$)(?!.* (?:i|we|my|our|the) )
    """
)
# What somebody else is told to do.
ADVICE_TO = _start(
    r"""
    (?:just~|so~|always~|simply~|and~|do )*(?:stay|be|try|believe|trust|listen|remember|make sure
    practice|read (?:lots|more|up|a lot)
    take (?:care|it|your|breaks?|some time|time|one|things|a look)|don['’]?t (?:be|worry|forget|give
    let|hesitate|stress|lose|rush|beat|sweat|overthink)|do (?:your|what|it|some|things|not worry)
    go (?:for|ahead|with the)|surround|focus|hang|gather|set (?:realistic|small|clear|aside|some)
    check|look (?:at|for|into|out|up)|start (?:small|with|by)|break (?:it|things|down)|find (?:a|an
    what|something|the|your)|get (?:some|out|enough|yourself)|give (?:it|yourself|them)|ask (?:for
    a)
    think (?:about|of)|talk to|reach out|enjoy|follow|embrace|cherish|feel free|let (?:me|it|them|us
    yourself)|hit me|come (?:on|over|by)|join us|tell (?:me|us|them)|imagine|picture|never (?:lose
    forget|stop|give)|have (?:fun|a (?:great|good|nice|safe|blast|wonderful)))
    """
)
# Such beginnings mostly lead to nothing, unless a whole statement follows.
SOFT = _start(
    r"""
    glad|excited|hope|looking forward|take a look|check (?:it|this|out)|look at|here['’]s|this is
    that['’]s|those are|these are
    """
)
HEDGE = _words(
    r"""
        maybe|perhaps|might|possibly|probably|not sure|i (?:think|guess|suppose|assume)
        i (?:hope|wish|wonder|believe)|i['’]?d (?:say|guess)|kind of|sort of
        don['’]t (?:know|think|believe)|do not (?:think|believe)|no idea|what if
        hypothetically|imagine|pretend|let['’]s say|suppose
        supposedly|allegedly|if (?:i|we|you|he|she|they|it)
        (?:it|that|this)(?:['’]d| would) (?:be|mean|have|make|help)
        could (?:definitely |really |totally |also )?(?:help|be|use|make|work)
        i (?:really|definitely|probably|totally) should|i should (?:really|definitely|probably
        totally
        try|check|give)
    """
)
REFUSAL = _words(
    r"""
        as an ai|as a language model|i (?:can['’]?t|cannot|am unable to|am not able to
        won['’]t) (?:help|assist|do that|provide|access|comply|answer)|i (?:do not
        don['’]t) have (?:access|the ability)
    """
)
# "I took a walk to clear my mind" is no order.
ABOUT_MEMORY = _words(
    r"""
        ^(?:please,?~|just~|now,?~|and~|also~|ok(?:ay)?,?~|then~|can you~|could you~
        you (?:can|should|must)~|i(?:['’]d like| want| need) you to )*(?:forget|delete|erase|clear
        wipe)(?: about)? (?:that|this|it|what|everything|all|my|the|your)
        (?:forget|delete|erase|clear|wipe) (?:what|everything|anything|all(?: that)?) (?:i|we|you)
        (?:your|my|the) memor(?:y|ies)(?! (?:leak|usage|limit|footprint|error|card|stick|of|lane
        bandwidth|consumption|allocation|foam|palace|issue|problem|bug)s?)
        (?:do|did|can|will) you remember|don['’]t (?:remember|store|save)
        (?:store|save|note|add) (?:this|that|it)\b.*\bmemory
        previous instructions|system prompt
    """
)
ASKED_TO_KEEP = _start(
    r"""
        ^(?:please~|hey~|also~|and~|ok~|okay )*(?:remember|note|keep in mind|don['’]t forget
        bear in mind|for the record|make a note
        (?:save|add|put|write|commit)(?: this| it)? (?:to|in|into) (?:your~|the~)?memory)(?: that
        ,|:)?
    """
)
ASKED_TO_KEEP_THAT = re.compile(
    r"^(?:please |hey |also )*(?:can|could|would|will) you (?:please )?"
    r"(?:remember|note|keep in mind|save)(?: that)? (?P<what>(?:I|my|we|our|the)\b.*?)\?$",
    re.IGNORECASE,
)
TO_DO = re.compile(r"^(?:to-?do|action item|next step|task)\b[:,]? ", re.IGNORECASE)
REMIND = re.compile(
    r"^(?:please |also |and )*remind me (?:that I (?:need|have) )?to\b", re.IGNORECASE
)
CALL_ME = re.compile(
    r"^(?:please |just |you can |everyone |my friends |people )*calls? me "
    r"(?P<name>(?-i:[A-Z])[\w'’-]+)",
    re.IGNORECASE,
)
INSTRUCTION = _start(
    r"""
        (?:(?:now|then|next|again),? )?(?:please|can you|could you|would you|give me|show me
        explain|write|create|generate
        list|summari[sz]e|translate|rewrite|help me|make (?:me|it|a)|find|search|suggest
        recommend|provide|compare|describe|remind me)
    """
)
TO_YOU = _words(
    r"""
        you|your|yours|you['’](?:re|ve|ll|d)|yourself|u|ya
    """
)
LEADS_ON = re.compile(r":$")  # to what somebody else wrote, or to a list
# From here on nobody means what they say, until they say so.
PLAY = _words(
    r"""
        (?:let['’]?s|can we|we could|want to|wanna|shall we|time to) (?:do (?:a|some)~)?role-? ?play
        role-? ?play (?:with me|as|time|where|scenario)|in[- ]character
        (?:let['’]?s|we) (?:play (?:a game )?(?:where|pretend|make[- ]believe)|pretend)
        pretend (?:that )?(?:i|i['’]m|i am|we|we['’]re|to be)
        (?:i['’]ll|i will) (?:be|play) (?:the|an?) .{2,40} and you
        you(?:['’]ll|~will)? (?:be|play) (?:the|an?) .{2,40}(?:and|,) i(?:['’]ll|~will)? (?:be|play)
        imagine (?:that )?(?:i['’]m|i am|we['’]re|we are|you['’]re my)
    """
)
ENDS_PLAY = _words(
    r"""
        out of character|ooc|back to (?:reality|real life|work)|seriously now
        (?:end|stop|quit|finish|finished|enough)\b.{0,20}\b(?:role-? ?play\w*|game|pretending)
    """
)
# What is asked to be made up is not told, nor is what follows in the same breath.
FICTION = re.compile(
    r"^(?:please |can you |could you |now |then |ok,? )*"
    r"(?:write|compose|draft|create|generate|make up|tell(?: me)?|continue|invent|translate|rewrite"
    r"|rephrase|proofread|summari[sz]e|paraphrase|correct)\b.{0,60}\b(?:stor(?:y|ies)|poem|song|lyrics"
    r"|dialogue?|scene|script|novel|tale|monologue|haiku|joke|essay|letter|e?mail|text|sentence"
    r"|paragraph|message|speech|blurb|bio|following|this)\b",
    re.IGNORECASE,
)
SARCASM = _words(
    r"""
        yeah,? (?:right|sure)|as if|sure,? (?:because|and i)|oh great|/s|lol|just kidding|jk|joking
        (?<![\w,] )oh,? (?:sure|joy|perfect|wonderful|brilliant|fantastic|lovely|because)(?=,)
        because that (?:went|worked|always)
        ^sure,? (?:i|we|my|our)\b.*\b(?:now|these days|replaced|switched)
        ^sure,? i (?:just |totally |really |absolutely )?(?:love|enjoy|adore)
    """
)
# What was said just before it is not meant, either.
TAKES_BACK = re.compile(
    r"^\W*(?:(?:i['’]m|i am|i was)? ?(?:just |only )?(?:kidding|joking)|jk|not really|/s)\W*$",
    re.IGNORECASE,
)
# What was just said is taken back or put right: only both together tell what is so.
SECOND_THOUGHT = re.compile(
    r"\W*(?:(?:oh|ah|no|actually|sorry|hm+|ugh|oops)\b\W+)*"
    r"(?:correction\b|(?:scratch|strike) that\b|wait\b(?! (?:for|until|till|to))|hang on\b"
    r"|hold on\b|i mean,|i take (?:that|it) back|my mistake|i got (?:that|it) wrong)",
    re.IGNORECASE,
)
# "Suppose we had a dog. His name is Rex": nothing of it is so, until somebody comes back to it.
SUPPOSED = _start(
    r"""
    imagine|suppose|supposing|pretend|let['’]?s (?:say|assume|imagine|pretend|suppose)|assume
    assuming|hypothetically|say (?:i|we|you)|in a world where|picture this
    """
)
IN_FACT = _start("actually|in fact|in reality|in truth|really,|seriously|but i")

# --- what it is ---

LESSON = _words(
    r"""
        lesson|learn(?:ed|t) (?:that|the hard way|not to)|turns? out|failed|fails?|broke
        crash(?:ed|es)?|didn['’]t work|doesn['’]t work|did not work|never again|mistake
        should(?:n['’]t|~not) have|ruled out|avoid
        (?<!we )(?<!i )(?<!they )don['’]t (?:ever|use|deploy|try|bother with)
        never (?:ever )?(?:use|deploy|try|run|push|merge|touch|upgrade|restart|mock|send|skip)
        root cause|lost (?:\w+ )?(?:messages|data|events|tasks|jobs|orders|updates|writes)
        gave up on|backfired|outage
        the (?:fix|problem|issue|bug)(?: (?:for|with) [\w ]+)? (?:was|is)
        tim(?:es|ed) out|(?:corrupted|deadlocked|overwrote) \w+
        (?:stay|steer) (?:away|clear) (?:from|of)|(?:bit|burned|burnt) us
    """
)
AVOID = _words(
    r"""
        avoid|never again|ruled out|failed|didn['’]t work|did not work|doesn['’]t work|broke
        crash(?:ed|es)?|lost (?:\w+ )?(?:messages|data|events|tasks|jobs|orders|updates|writes)
        (?<!we )(?<!i )(?<!they )don['’]t (?:ever|use|deploy|try|bother with)|tim(?:es|ed) out
        (?:corrupted|deadlocked|overwrote) \w+|(?:bit|burned|burnt) us
        (?:stay|steer) (?:away|clear) (?:from|of)
        never (?:ever )?(?:use|deploy|try|run|push|merge|touch|upgrade|restart|mock|send|skip)
        mistake|backfired|outage|gave up on|shouldn['’]t have
    """
)
# Advice as assistants give it, often under a heading.
ADVICE = re.compile(r"^[^:]{2,50}: [A-Z]|\b(?:[Aa]void|[Nn]ever|[Dd]on['’]t)\b")
FAILS = _words("fails?")
DECISION = _words(
    r"""
        (?:we|i|they|he|she|[A-Z]\w+)(?:['’](?:ve|re|m)|~have|~has|~are|~am|~is)? (?:decided
        chose|agreed|opted|settled on|picked|selected|going with|switched|migrated|approved
        standardi[sz]ed|committed to|adopted|went with|stick with|sticking with)
        let['’]s (?:use|go with|stick (?:with|to)|settle on|switch to|move to|adopt)
        decision (?:is|was)|we(?:['’]ll|~will
        ~are going to|['’]re going to) (?:use|go with|stick with|adopt|keep|drop|move|switch)|(?:use
        using) .{2,40} (?:instead of|rather than|not)|the plan is|final(?:ly)? (?:choice
        decided)
    """
)
PREFERENCE = _words(
    r"""
        prefers?|favou?rite|(?:i|we) (?:\w+ )?(?:like|love|hate|dislike|enjoy|adore|detest
        loathe)|(?:likes|loves|hates|dislikes|enjoys|prefers)|can['’]?t stand|(?:i['’]m|i am
        is|am) (?:a (?:big|huge) )?(?:fan of|allergic|keen on|into)|rather than|i(?:['’]d
        ~would) rather|always want|never want|allerg(?:y|ies|ic)|don['’]t like
    """
)
TASK = _words(
    r"""
        todo|to-do|(?:i|we|you)(?:['’]ll|~will)? (?:still )?(?:need|have|must|got|ought) to
        must|remind me to|action item|next step|(?:is|are) due|deadline|by (?:tomorrow
        monday|tuesday|wednesday|thursday|friday|saturday|sunday|next|the end of|eod)
        don['’]t let me forget
    """
)
VERB = _words(
    r"""
    \w{2,}ed|\w{3,}ing|is|are|am|was|were|be|been|has|have|had|do|does|did|\w+n['’]t|will
    would|can|could|must|should|need|needs|want|wants|use|uses|got|get|went|made|took|won|met|saw
    bought|built|chose|ate|ran|found|lost|left|gave|came|told|said|began|kept|felt|taught|wrote
    read|runs?|meets?|starts?|ends?|opens?|closes?|costs?|lives?|works?|speaks?|plays?|likes?
    expires?|happens?|departs?|goes|begins?|wakes?|gets|take|deploys?|depends?|handles?|serves?|sends?|listens?|expects?
    loves?|hates?|prefers?|fails?|broke|turns?|takes|returns|leaves|teaches|coaches|manages|owns
    grew|became|brought|spent|drove|flew|slept|sold|spoke|wore|woke|fell|threw|rose|swam|sang|paid
    fought|caught|thought|knew|sent|stood|held|heard|drives|contains|requires|belongs|arrives
    \w+['’](?:s|re|ve|m|ll|d)
    """
)
DOING = _words(
    r"""
    (?:is|are|was|were|has|have|can|could|will|would|does|do)(?:n['’]?t)?|makes?|brings?|helps?
    gives?|keeps?|lets?|gave|made|helped|brought|reminded|taught|took|got|takes|sounds?|seems?
    feels?|looks?|reminds?|shows?|means?|requires?|inspires?
    allows?|\w+s (?:me|us|you)|\w+['’]s (?:so|a|an|the|not|been|always|really|just)
    """
)
ASSURING = _words(
    r"""
    i (?:really |just |also |totally )?(?:love|like|adore) (?:how|that it|that you|the way|it when)
    i can (?:just |totally |only |almost |really |already )?(?:picture|imagine|see (?:why|how|you
    it))
    (?:love|happy|glad|like|down|willing|here|keen|eager|thrilled) to (?:help|lend|hear|assist
    chip in)
    (?:it|that|this)(?:['’]s| is| was) (?:all|just|really|mostly) about|is (?:how|why|what) we
    come (?:so far|a long way)|let (?:me|us) know|behind you|(?:\w+day|tomorrow|that time) works
    i(?:['’]m| am) (?:so |really |very )?sorry (?:about|for|to|that)
    (?:it|that|this)(?:['’]s| is| was) (?:just |kinda )?like (?:when|being|having)
    i(?:['’]ll| will) (?:definitely|make sure|be sure)|i (?:really |also )?(?:like|love) (?:those
    these|your)
    rest assured|no doubt|highly recommend|feel(?:s)? the same|(?:that|the same) (?:effect|way
    boat)|(?:cheers
    thanks) for
    i remember (?:you|when you|that you)|much (?:has )?happened
    (?:love|like) (?:all )?the (?:[\w-]+ ){0,3}(?:colou?rs?|texture|vibes?|look|theme|view|idea
    thought|sound
    pic|photo|scenery)
    i (?:can |can['’]t |could )?(?:totally |definitely |really |so )?(?:get|see|understand|relate
    imagine) (?:how|that|why|what|it|to)|(?:i|we)(?:['’]d| would)? (?:highly |definitely |totally
    really )?(?:recommend|suggest)
    (?:i['’]ll|i will|i can|i could|i['’]d) (?:\w+ ){0,4}?(?:send|show|give|tell|share|help|teach
    lend
    make|bring|join|support) (?:\w+ )?you
    (?:love|like|happy|glad) to (?:join in|be there|come along)|(?:won['’]t|not) (?:gonna )?(?:quit
    let)
    so much to \w+|(?:['’]ll|will|gonna|going to|just) keep (?:on )?(?:grinding|hustling|pushing
    going|moving|trying|fighting|chasing|striving)
    i(?:['’]m| am) (?:so |really |just |super )?(?:glad|happy|thrilled|stoked|excited|proud|grateful
    sorry) (?:that |about )?(?:we|you|it|this|they|for you|to see|to hear|your)
    i(?:['’]m| am)? (?:bet|sure|promise|guarantee|certain|know (?:you|it)|imagine)
    you(?:['’]re| are) (?:so|doing|such|an?|really)|you(?:['’]ve| have) got this|you got this
    a lot(?:['’]s| has| is)? (?:been )?(?:happened|happening|going on)|lots of stuff happened
    (?:would|['’]d) (?:love|like) to (?:see|try|hear)|wanted to (?:check|say|give you|wish|see how
    reach out)|keep (?:ya|you) posted
    since we(?: last)? (?:talked|chatted|spoke)|(?:haven['’]t|not) (?:talked|spoken)|give up
    get through this|gonna make it|loving it|here to lend|way of \w+ing (?:us|our)
    keep (?:plugging|on going)|can look some|heard (?:so many|great)|in mind|ha ha
    owe you|like (?:it was )?(?:just |only )?yesterday|must(?:['’]ve| have) been|be great
    for the invite|hopefully
    proud of you|rooting for you|here for you|there for you|cheering
    """
)
EMPTY = _words(
    r"""
        (?:it|that|this|they|these|those|there)(?:['’]s|~is|~was|['’]re|~are|~were|~has been
        ~feels?|~felt|~means?|~looks?|~sounds?)(?: \w+){0,3} (?:great|good|awesome|amazing
        nice|fun|cool|important|hard|tough|special|wonderful|inspiring|rewarding|exciting
        lovely|beautiful|sweet|crazy|true|interesting|impressive|fascinating|sad|so \w+)
        i(?:['’]m| am) (?:an? )?(?:huge|big) fan(?=[.!]*$)|i(?:['’]ve| have) got a funny story
        [\w"“”' ]{1,30} (?:is|are|was|sounds?|looks?) (?:so |really |just |totally )*(?:awesome
        great|amazing|special|beautiful|incredible|nice|cool|fun|the best|key)(?=[.!]*$| for )
    """
)
FEELING = _words(
    r"""
        grateful|thankful|proud|lucky|blessed|appreciate|excited|happy for|means a lot
        can['’]t wait|(?:so|really) (?:glad|happy|stoked|pumped)|encouragement|supporti(?:ve
        ng)|your support|fingers crossed|wish(?:ing)? you|thanks|thank you
    """
)

VAGUE = _words(
    r"""
        do(?:ing)? (?:my|our) best|keep (?:going|pushing|you (?:posted|updated))
        make a difference|big things|some (?:exciting|big|great) (?:news|things)
        let you know|see you|a lot (?:to me|of things)|something (?:exciting|new|special
        big)|never give up|work in progress|one step at a time|catch up|(?<!for )chat(?:ted)?
        give it a (?:try|go|shot)|check (?:it|that|them) out|agree|sounds? like|mean(?:s
        t)? (?:so much|the world|everything)|in mind|fun fact|believe in
        hear(?:ing)? (?:that|about)|tell you|show you|share (?:it|this|that|them) with you
        for you|with you|recommend
    """
)
POINTING = _start(
    r"""
        it|it['’](?:s|ll|d)|that|that['’]s|this|these(?! days)|those|they|they['’](?:re|ve|ll)|there
        there['’]s|he|she|he['’]s|she['’]s|sounds?|looks?|seems?|feels?|gotta|gonna|being
        having|to|for|with|not|such|just|never|always|stay|keep|go|must
        for|like|tastes|makes|adding|hopefully|hoping|wish|way|mixed|bonus|lemme|saw|some|same
        her|his|their|our loved ones|gather|every|best of all|won['’]t|positive
    """
)
# "These cups I bought in Rome": what is pointed at is told, too.
BESIDES = re.compile(
    r"\b(?:I|we|and I)(?:['’](?:m|ve|re|d))? (?!(?:all|can|should|need|know)\b)[a-z]+"
)
# What a group does or has, as whoever belongs to it tells.
OF_US = _start(
    r"""
    we(?:['’](?:ve|re))? (?!(?:all|should|can|could|must|need|gotta|will|would|have to|know|as)\b)
    our (?!loved)
    """
)
POINTS_AT = _words("this|these|that (?:pic|photo|picture|one)|here['’]s|check (?:it|this) out")
# What only the sentence before makes clear.
GOES_ON = _start(
    r"""
        (?:it|they|he|she|these|those|this|that|there)(?:['’](?:s|re|ve|ll|d|s))? (?!(?:one|time
        year)\b)
        (?:her|his|their|its) \w+
    """
)
# An order is none of ours, but "never use it in production, it got us banned" is a lesson.
RULED_OUT = re.compile(
    r"never (?:ever )?(?:use|deploy|try|run|push|merge|touch|upgrade|restart|mock|send|skip)\b.*"
    r"(?:,|:|;|–|—| -| because| since| as) .*\b(?:we|us|our|me|my|i)\b",
    re.IGNORECASE,
)
IDENTITY = re.compile(
    r"I(?:['’]m| am) (?:an? (?!(?:mess|bit|fan|lot|wreck|fool|genius|little|big)\b)[a-z-]+"
    r"|[A-Z][a-z]+)[.!]*$"
)
OWNING = re.compile(r"(?:I|[A-Z][a-z]+) (?:also |now )?owns? (?:an?|two|three|the) \w+[.!]*$")
# "Took a trip to Rome", "Still working on it", "Been reading a lot": who speaks left out the "I".
LEFT_OUT = _start(
    r"""
        (?P<past>(?:even~|also~|finally~|recently~|already~)?(?:got (?:promoted|married|engaged
        hired
        laid off|fired|divorced|accepted|back|home|into|up)|(?:joined|went|got|made|took|saw|met
        bought|started|finished|visited|tried|had|decided|won|found|lost|moved|gave|ran|worked|spent
        read|wrote|quit|sold|built|did|ate|put|came|drew|drove|flew|sent|paid|taught|caught
        (?!based|located|inspired|excited|tired|used|supposed
        compared|related|interested|amazed|impressed|thrilled|stunned|focused|loved|need|dedicated
        blessed|determined|convinced|worried|surrounded|filled|packed|pleased|prepared|motivated
        involved|depend|agreed|indeed|speed|committed|addicted|obsessed|devoted|opposed|allowed
        designed|known|called|named)[a-z]{2,}ed) (?:an?
        the|my|our|some|to|with|in|on|at|it|up|out|back|that|this|two|three|four|\d+|into|for|new
        lots of|\w+ing|[\"“]|\w+ with|(?-i:[A-Z]\w+))))
        (?P<been>been (?:(?:real|really|super|so|pretty) )?(?:\w+ing|to|in|at|on|busy|away|out|only
        back|there))
        (?P<will>gonna (?!be\b)\w+)
        (?P<needs>(?:still )?(?:need|want|have|plan|hope) to)
        (?P<not>(?:didn['’]?t|couldn['’]?t|haven['’]?t) [a-z]+|don['’]?t (?:feel|want|have|need
        like))
        (?P<doing>(?:(?:still|now|currently|also|even|mostly) )?(?:researching|working (?:on|at|as)
        trying|planning|thinking (?:of|about)|looking (?:into|for|at)|learning|reading|writing
        taking|getting|starting|going|doing|making|training|practicing|studying|hiking|running
        going to|finishing|prepping|preparing|heading|moving|hosting|volunteering|attending|visiting
        saving|applying|using|considering|exploring|joining|spending|celebrating|following
        focusing|waiting|helping|teaching|building|creating|developing|organizing|designing
        managing|recording) (?!care|time)\w+)
    """
)
FADES = _start(
    r"""
        (?:and~|but~|so~|which )?(?:it|it['’]s|that|that['’]s|they|they['’]re|this|is|was|so
        such|really|really|what a|feels?|felt)
    """
)
HOLDS_ALWAYS = _words(
    r"""
        we all|everyone|everybody|people|life|always|each other|can (?:be|make|have|help
        really)|important|makes? (?:life|it all|us)|together we
    """
)
HAPPENED = _words(
    r"""
        \w{2,}ed|went|had|got|made|took|were|did|won|met|saw|bought|built|chose|will|use
        have|ate|ran|found|lost|left|are|['’]re|['’]ve|['’]ll|need|prefer|our \w+ (?:is|are
        was)
    """
)
PAST = _words(
    r"""
    \w{2,}ed|was|were|had|went|got|made|took|did|won|met|saw|bought|built|chose|ate|ran|found|lost
    left|gave|came|told|said|began|kept|felt|taught|wrote|read
    """
)
# "We bill monthly": what a team does again and again.
REGULAR = re.compile(
    r"We (?!should|must|can|need|all)[a-z]+\b.*\b"
    r"(?:every \w+|daily|weekly|monthly|quarterly|yearly|per \w+)[.!]*$"
)
NEWS = _words(
    "now|nowadays|these days|from now on|any ?more|no longer|instead|stopped|quit|again|any longer"
)
OURS = _start("the|our|my")
THEY_ALTERED = re.compile(
    rf"They(?: have|['’]ve)? (?:just )?(?:removed|{ALTERED.pattern})", re.IGNORECASE
)
# "The shop sells vinyl", "We accept cash": what somebody or something does, as a rule.
AS_A_RULE = re.compile(
    r"(?:(?:The|Our|My) (?:[\w-]+ ){1,3}?(?!(?:"
    r"looks|sounds|feels|seems|makes|means|gives|brings|helps|keeps|reminds|tastes|smells|gets|goes"
    r"|comes|lets|shows|turns|says|was|is|has|does|this|always)\b)[a-z]{2,}(?:[^s\W]s|sses|shes|ches)"
    r"|We (?:(?:only|always) )?(?:accept|require|log|host|write|sell|ship|pay|bill|charge|support"
    r"|use|run|store|build|deploy|release|test|offer|serve|publish|rent|hire|train|meet|eat|keep|cache|back"
    r"|track|send|buy|grow|sign|review|merge))"
    r" (?!(?:so|really|very|just|too|like|me|us|it|that|this|up|down|out|on|off|in)\b)\w"
)
# A name, as far as its letters tell, and what it does: "Rosa teaches", not "Painting relaxes".
SOMEBODY = re.compile(
    r"(?!(?:Art|Music|Life|Work|Love|Nature|Time|Food|Family|God|Home|Everything|Nothing|Something"
    r"|What|Who|Where|There|The|Here|One|His|Her|Our|My|Their|Your|Change|Health|Dance|Nobody"
    r"|Someone|Every\w+)\b)"
    r"[A-Z][a-z]+(?<!ing)(?<!ness)(?<!ion)(?<!ment)(?<!ity)(?<!ship)(?<!ly) "
    r"(?:(?:no longer|also|now|usually) )?"
    r"(?:is (?:the|an?|our|my|on|at|in|no longer|pregnant\b) ?|has (?:an?|access|the|run) |"
    + alternatives(
        r"""
        lives|works|teaches|leads|plays|manages|owns|runs|reports|handles|coaches|captains|studies
        speaks|volunteers|drives|likes|loves|hates|prefers|wants|needs|uses|eats|drinks|smokes|sells
        writes|paints|sings|swims|cooks|collects|reads|watches|follows|supports|hosts|heads|chairs
        maintains|builds|develops|designs|deploys|reviews|tests|commutes|rides|walks|cycles|trains
        practices|attends|serves|sleeps|wakes|pays|rents|shares|dates|knows|believes|grows|owes
        """
    )
    + r"\b)"
)
SETTLED = _start(
    r"""
        (?:the|our|my|all|every|no|each) [\w' -]{2,50} (?:is|are|was|were|must|uses?|runs?
        has|have|needs?|fails?|failed|lost|broke)
        (?:the|our|my) \w+(?: \w+)? (?:now |no longer )?[a-z]{3,}s (?:in|at|on|from|every|until)
    """
)

# --- what leads in, and says nothing ---

LEAD = re.compile(
    "^(?:"
    + alternatives(
        MISTAKEN
        + r"""
        oh|ah|aw+|wow|well|yeah|yes|yep|yup|no(?! more| doubt)|nope|nah|hey|hi|hello|and|but|also
        so(?! far| good)|anyway|btw|seriously(?: though| now)?|so far,? so good|no doubt
        by the way|correction|small correction|update
        actually|honestly|speaking of which|you know|ok|okay|sure|(?:thanks
        thank you)(?: for (?:asking
        sharing|checking|the \w+|your \w+))?|haha|lol|hmm|um|uh|like i said|as i said|i mean
        that said|on another note
        besides that|last time we (?:saw each ?other|talked|spoke)|since we (?:last )?(?:spoke
        talked|chatted)(?: last)?|plus|for example|in fact|to be honest|fyi|of course|absolutely
        definitely|totally|exactly|guess what|i (?:just )?(?:wanted to|have to|must
        can) (?:tell you|say(?! hi| hey| hello)|mention|let you know|share)(?: that)?|recently
        lately|just|i(?:['’]m|~am) (?:so~|really~|super )?(?:happy
        glad|sorry|excited) to (?:say|report|hear|tell you)(?: that)?
        """
    )
    + r"(?:,? (?:and|but|so))?[,.!:–—-]*\s+)+(?=\S)",
    re.IGNORECASE,
)
