"""Sentences for the generated corpora, written for this purpose."""

from __future__ import annotations

# A statement, and under it a question about it in other words.
PARAPHRASES = """\
My physician told me to cut back on salt because my blood pressure is high.
What did the doctor advise regarding hypertension?
We adopted a small kitten from the shelter in spring.
Do they own a pet cat?
The car broke down on the motorway and had to be towed.
Was there trouble with the vehicle during the journey?
She is allergic to peanuts and carries an epinephrine pen.
Which foods are dangerous for her health?
Our flight to Lisbon leaves at six in the morning.
What time do they depart by plane for Portugal?
He quit his job at the bank to open a bakery.
Which career change happened with the former financial employee?
The toddler finally sleeps through the night.
Is the baby's rest improving?
I repainted the kitchen walls in pale green.
What colour is the room for cooking these days?
The landlord raised our rent by ten percent.
How did housing costs change?
My laptop's battery drains within an hour.
What is wrong with the notebook computer's power supply?
I prefer to run our services on the London servers.
Where should deployments be hosted geographically, in England's capital?
He is training for a marathon in October.
Which long-distance race is being prepared for in autumn?
Grandma taught me how to knit a scarf.
Who showed how to make woollen garments by hand?
The restaurant was too noisy so we left before dessert.
Why was the dinner cut short?
I lost my wallet on the subway yesterday.
What item went missing on the metro train?
The garden is overrun by slugs eating the lettuce.
Which pests are destroying vegetables in the yard?
She speaks fluent Japanese after living in Osaka.
What foreign language has been mastered in Asia?
Our daughter was accepted at medical school.
Will the child become a doctor?
The meeting was moved from Monday to Thursday.
On what weekday is the rescheduled appointment?
He is afraid of heights and avoids balconies.
What phobia does the man suffer?
I take my coffee black, without sugar.
How should the espresso be served, sweetened or plain?
The basement floods whenever it rains heavily.
What water damage problem occurs during storms?
My brother is getting married in a vineyard.
Where will the sibling's wedding take place?
I cancelled the gym membership in March.
Is the fitness club subscription still active?
The dentist found two cavities.
What was discovered during the tooth checkup?
She composes songs on an old piano.
Which instrument is used for writing music?
We ran out of money halfway through the renovation.
Why was the home remodelling halted financially?
The bridge is closed so I cycle the long way round.
What route is used for commuting by bicycle and why?
He collects stamps from former colonies.
What is the philatelist's hobby?
The movie made me cry at the end.
Was the film emotionally moving?
I was fined for driving too fast near the school.
What penalty was given for speeding?
My phone screen cracked when it fell on the pavement.
How was the mobile device damaged?
The cake recipe needs four eggs and a lemon.
Which ingredients are required for baking?
He wakes before dawn to swim in the lake.
What early aquatic exercise routine exists?
They sold the farm and moved into a flat in town.
Did the family relocate from the countryside to an urban apartment?
The printer jams on thick paper.
What malfunction happens with the office machine for documents?
Her visa expires next summer.
Until what point may the immigrant legally stay?
I am learning to play chess with my uncle.
Which board game is being studied with a relative?
The roof leaks above the bedroom.
Where does rain drip into the house?
He donated his old clothes to a charity.
What happened to unwanted garments?
The puppy chewed my favourite shoes.
Which footwear was ruined by the young dog?
We celebrate our anniversary at the seaside.
Where do the couple commemorate their wedding date by the ocean?
I stopped eating meat two years ago.
Is the user vegetarian?
The wifi is slow in the attic.
Where is internet connectivity poor at the top of the building?
She earned a scholarship to study astronomy.
Which funding was won for learning concerning stars?
My knee hurts when I climb stairs.
What joint pain exists?
The neighbours complained about our loud party.
Who was annoyed at the noise of the celebration?
I want error messages short and without jargon.
How verbose should failure text shown be?
The clock tower was struck by lightning.
What happened to the tall building in the thunderstorm?
He writes his novels with a fountain pen.
What tool does the author use for books?
I left the umbrella in the taxi.
What was forgotten in the cab?
The students protested against higher tuition fees.
Why were undergraduates demonstrating regarding college costs?
Our router password is kept in the drawer.
Where are network login credentials stored?
She fainted because she had skipped breakfast.
Why did she lose consciousness?
The hike took nine hours and our feet were sore.
How exhausting was the mountain walk?
He was promoted to head of sales.
What new position did the employee obtain in the commercial department?
We watched whales from a small boat.
Which sea mammals were seen on the excursion?
My glasses are too weak for reading at night.
Is eyesight correction insufficient after dark?
The soup was so spicy that nobody finished it.
Why was the hot dish left uneaten?
I had my hair cut very short for the summer.
What hairstyle was chosen for warm weather?
"""

PEOPLE = "Anna Tom Priya Luis Chen Olga Sam Ines".split()
DOINGS = "talked about|asked about|liked|read an article on|wrote a note on|was bored by".split("|")
TOPICS = """the election results|a new phone|the weather in Berlin|an old castle|basketball tactics
stock prices|a museum of modern art|train delays|climate policy|a poem by Rilke|the harbour festival
quantum computers""".replace("\n", "|").split("|")

SERVICES = "billing search auth mailer gateway ledger".split()
ENDS = """failed with|was closed after|is blocked by|was traced to|depends on
was reopened because of""".replace("\n", "|").split("|")

# Domain: question | sentences of its answer. A domain's answers share its vocabulary.
ANSWERS = {
    "garden": """
Why do the leaves at the bottom turn yellow? | Yellowing of the lower leaves is common in plants
 that carry fruit. Older foliage gives up its nitrogen first. Feed the tomatoes with compost tea
 every other Friday. Remove what has faded, so that air moves around the stems.
How do I keep slugs away from the lettuce? | Slugs love young salad beds, but you can make life
 hard for them. Water in the morning, for a wet bed at dusk invites them. A ring of copper tape
 around each pot stops most. Collect the rest by torchlight after rain.
What should I plant under the big walnut tree? | Few plants grow well in the shadow of a walnut.
 Its roots give off juglone, which poisons many neighbours. Ferns, hostas and wild garlic put up
 with it. Keep tomatoes and potatoes well outside the crown.
When is it safe to put seedlings outside? | Young plants from the windowsill need care when they
 move outdoors. Wait for the last frost, which in the lowlands comes in the middle of May. Harden
 them for ten days in the shade. A fleece at night saves them from a late cold spell.
How often must I water a cactus? | Cacti and other succulents die of water more often than of
 thirst. Let the soil dry out completely between two drinks. In winter once in six weeks is
 plenty. A soft base means rot from too much love.
My roses have white powder on them, what is it? | A white coating on rose leaves has one usual
 cause. That is mildew, a fungus that likes dry roots and damp air. Spray milk thinned with nine
 parts of water. Next year choose a resistant climber.
""",
    "kitchen": """
Why does my bread stay flat? | A loaf that does not rise has mostly one of two problems. The
 yeast was tired or the dough too cold. Let it double at twenty-six degrees. Fold it every half
 hour, which builds the gluten.
How can I save an oversalted soup? | Too much salt in a soup can be put right within limits. Thin
 it with unsalted stock first. A raw potato takes up little, whatever people say. A spoon of cream
 and a few drops of lemon hide the rest.
What is the best pan for eggs? | For fried eggs the surface of the pan matters most. A well
 seasoned carbon steel skillet lets them slide. Heat it slowly and add butter when a drop of water
 dances. Teflon works too but wears off.
How long does cooked rice keep in the fridge? | Leftover rice is riskier than it looks, even when
 refrigerated. Two days, and only if it was cooled within the hour. Bacillus spores survive the
 boiling. Reheat it once, until it steams.
Can I freeze fresh basil? | Basil and other tender herbs can be frozen with a little preparation.
 Blanch it for five seconds, or it turns black. Blend it with oil and pour it into an ice tray. It
 will be good for pesto, not for salads.
Why do my biscuits spread so much? | Cookies that run on the tray are a matter of temperature.
 The butter was too warm, so it melted before the flour set. Chill the cut rounds for an hour. A
 little less sugar keeps them in shape as well.
""",
    "bicycle": """
The gears skip when I climb, what can I do? | Skipping gears under load point to a worn
 drivetrain. The chain has stretched past its limit, measure it with a gauge. Replace it together
 with the cassette if both are worn. Then turn the barrel adjuster half a round.
How much air do the tyres need? | The right tyre pressure depends on weight and width. For a
 rider of seventy kilos on wide rubber three bar are enough. Narrow road tyres want six. Check it
 every other week, for tubes leak slowly.
My brakes squeal in the rain, is that dangerous? | Noisy bicycle brakes in wet weather are
 annoying rather than unsafe. Wet rims carry grit that sings under the pads. Clean the braking
 surface with alcohol. Toe the pads in by a millimetre and the noise is gone.
What do I need to fix a puncture on the road? | A flat tyre on a tour is mended in ten minutes
 with a small kit. Two levers, a patch kit and a small pump. Feel the inside of the casing for the
 thorn before you close it. A folded banknote can cover a cut sidewall.
How should I lock it in the city? | Bicycle theft in towns is quick, so slow the thief down. Put
 a hardened U through the frame and the rear wheel. Choose a stand that is set in concrete. Take
 the light and the saddle bag with you.
Is it worth waxing the chain? | A waxed chain is clean and lasts, at the price of some work.
 Paraffin keeps dirt out and halves the wear. Strip the factory grease with solvent first. Immerse
 it again every three hundred kilometres.
""",
    "sleep": """
I wake at four and cannot drift off again, any ideas? | Waking up too early at night is a
 frequent kind of insomnia. Early waking often follows alcohol or a warm room. Get up after twenty
 minutes and read something dull. Keep the hour of rising the same on Sundays.
Do blue light glasses help at night? | Glasses that block blue light are sold for better sleep.
 The studies are small and most show nothing. Dimming the lamps two hours before bed does more.
 Bright mornings set the clock.
How long should a nap be? | Short naps refresh and long ones make you groggy. Twenty minutes,
 before you sink into deep stages. After ninety you have come round a full cycle. Later than three
 it steals from the night.
Is melatonin safe for a child? | Giving melatonin to children is a question for a doctor. Ask the
 paediatrician first, doses are rarely tested. Half a milligram is what trials used. A steady
 ritual of bath and story works for most.
What noise covers the street? | Traffic noise at night can be masked by a steady sound. Brown
 noise masks engines better than white. A fan does the same and cools. Earplugs of wax keep out
 the rest.
Why do I dream so vividly lately? | Vivid dreams have several harmless reasons. Dreams are
 remembered when you wake out of them, which short nights cause. Some blood pressure pills have
 that effect. A diary beside the pillow makes it stronger still.
""",
    "money": """
Should I pay back the loan or invest? | Whether to repay debt early or to buy shares is a matter
 of rates. Compare the interest with what you expect after tax. Above five percent paying back
 wins without risk. Keep three salaries aside before either.
What is a sensible emergency fund? | An emergency reserve is the first thing to save for. Three
 to six months of fixed costs, in an account you can reach in a day. Freelancers want more. Do not
 chase yield with it.
How do index funds make sense for small sums? | Even with little money you can own a piece of the
 whole market. A savings plan of fifty a month buys fractions of thousands of firms. Costs under a
 quarter of a percent matter more than timing. Leave it alone for fifteen years.
Can I deduct the desk at home? | A home office can lower your taxes under strict rules. Only if
 it is used for work nearly always. Keep the invoice and a photograph. The flat allowance may be
 simpler.
Is a joint account wise for couples? | Partners can share a bank account without giving up their
 own. Use one for rent and food and keep your own beside it. Pay in by income, not by half. Agree
 on what needs a talk first.
Why did my premium go up? | A rise of the insurance premium is seldom about you alone. Insurers
 reprice after claims in the whole region. A higher excess lowers it again. The notice to leave
 must reach them a month before the year ends.
""",
    "computer": """
The laptop is hot and loud, where do I begin? | An overheating notebook with a roaring fan needs
 cleaning. Dust mats in the fins of the cooler are the usual cause. Blow them out with the fan
 held still. New thermal paste takes off ten degrees.
How do I move photos off a full phone? | When the phone has no storage left, the pictures should
 go to a computer. Connect it by cable and copy the camera folder. Check the count before you
 erase. The cloud copy is no backup if it mirrors deletions.
Which backup plan is simple enough to keep? | A good backup runs by itself and is tested now and
 then. Three copies, on two kinds of media, one of them in another house. Let a timer do it each
 night. Restore a file every quarter to see that it works.
Why does the wireless drop in the bedroom? | Weak wifi in one room is mostly about walls and
 channels. Two walls of brick eat most of the signal. Choose channel one, six or eleven, whichever
 is quiet. A second access point on a wire beats any repeater.
Is it safe to buy a used disk? | A second-hand hard drive can be fine if you test it. Read its
 hours and its reallocated sectors first. Wipe it with a full write, which also tests it. Use it
 for copies, never for originals.
How do I choose a password I can remember? | A strong password need not be hard to keep in mind.
 Roll five words with dice from a list. Length beats odd characters. Keep the rest in a manager
 and that one in your head.
""",
}
PADDING = """There are several things to consider before you start.
It helps to take a little time and look at what has changed lately.
Many people ask about this, and the answer depends on the situation.
In general small steps work better than one big effort.
Write down what you try, so that you can see what makes a difference.
If it does not get better within a week or two, look for help on the spot.
The best way is often the simplest one.
Do not do everything at once, or you will not know what was right.
Keep in mind that every house and every person is different.
You may need a few tools, but nothing that costs much.
Have a look at the manual or ask a neighbour who has done it before.
Safety comes first, so stop when something does not feel right.
Some of it can be done in an evening, the rest needs patience.
It is worth asking what the goal is before choosing how to get there.
That said, there is no need to worry if it takes longer.
A good plan leaves room for mistakes.
Start with what you have and buy only what is missing.
After that, check the result and repeat where needed.
Of course there are exceptions to each of these points.
I hope this gives you a good place to begin.
Let me know how it goes, and we can look at the next step.
Here is what usually makes the biggest difference.
People often forget this part, although it is quick.
You will find that the second time is much easier.""".splitlines()
OPENINGS = """Thanks, that was useful. One more thing then.
Could you help me with something else?
All right, here is another one for you.
Good to know. I have a different question now.
Let us change the subject for a moment.""".splitlines()

# Attribute: its telling sentence, values, and chatter that repeats its words and tells nothing.
HABITS = {
    "dog": (
        "{who}'s dog is called {value}.",
        "Rex Bello Milo Luna Nero Fido".split(),
        """{who} walked the dog in the park.
{who}'s dog slept on the sofa again.
{who} bought food for the dog.
{who} says the dog barks at night.
{who} took the dog to the vet.
{who} washed the dog on Sunday.""".splitlines(),
        "what is {who}'s dog called",
    ),
    "job": (
        "{who} works at a {value} company.",
        "shipping software design steel solar toy".split(),
        """{who} had a long day at the office.
{who} talked to the boss about a raise.
{who} complained about work emails.
{who} works late on Fridays.
{who} works from home on Mondays.
{who} likes the work canteen.""".splitlines(),
        "where does {who} work",
    ),
    "holiday": (
        "{who} spends the holiday in {value}.",
        "Norway Malta Chile Kenya Japan Wales".split(),
        """{who} looked at holiday photos.
{who} packed for the holiday.
{who} booked the holiday early.
{who} needs a holiday soon.""".splitlines(),
        "where does {who} spend the holiday",
    ),
}
NAMES = """Alice Bruno Carla Dmitri Elena Farid Greta Hugo Irene Jonas Katya Leon Mina Nils Olivia
Pedro Quinn Rosa Stefan Tara""".split()

# Slot: a sentence that a later one of the same form makes untrue, its values, and its question.
CHANGES = {
    "city": (
        "{who} lives in {value}.",
        "Lisbon Bergen Turin Galway Krakow Ghent".split(),
        "Where does {who} live?",
    ),
    "boss": (
        "The manager of {who} is {value}.",
        "Weber Okafor Lindqvist Moreau Tanaka Silva".split(),
        "Who is the manager of {who}?",
    ),
    "drink": (
        "The favourite drink of {who} is {value}.",
        "cocoa cider espresso buttermilk tonic lemonade".split(),
        "What is the favourite drink of {who}?",
    ),
}
