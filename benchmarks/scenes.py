"""Sentences of the scenes: what people keep and how they ask for it, in kinds unlike each other."""

from __future__ import annotations

# A long technical note, and how somebody in a hurry asks for it.
MANUALS = """\
The cold room is kept between two and four degrees by two compressors that take turns every six
 hours. When the left one fails the alarm on the corridor rings once a minute. Press the green
 button for five seconds to hand over to the right one, and call the contractor whose number is
 inside the door. Do not open the room for more than ten minutes meanwhile.|cold room alarm
Before the centrifuge is started, weigh opposite tubes to a tenth of a gram and set the rotor code
 by hand, since the display forgets it at power loss. Above twelve thousand turns the lid needs the
 second latch. An imbalance light means that a tube has cracked; wait until the rotor stands still
 and clean the chamber with ethanol.|centrifuge imbalance
The greenhouse computer waters the north beds at five and the south beds at six in the morning.
 It skips a day when the barrel sensor is below a third. Its clock does not know summer time, so
 it is set by hand on the last Sunday of March and of October. The manual override is the red lever
 behind the tomato trellis.|change watering clock
For the heat pump in the cellar the pressure must read between one and two bar. If it drops below
 one, open the filling tap slowly, until the needle stands at one and a half, and bleed the highest
 radiator on the second floor. The installer wants to be told when this is needed more than twice
 a year, because then the expansion vessel is to blame.|heating pressure low
The harbour radio listens on channel nine from seven to nineteen. Boats longer than twelve metres
 announce themselves at the outer buoy and wait for the green light. At night the lock is worked by
 the watchman at the bridge, who is reached by three long blasts. Fees are paid at the machine
 beside the crane, in coins only.|lock at night
A cast of the bell is made in a pit of clay and horse hair. The metal is four parts copper and one
 part tin, poured at eleven hundred degrees in one go. It cools for a week before the pit is opened.
 A hum that is flat can be raised by turning a little bronze off the rim.|bell tuning
Our payroll export writes a file for the bank on the twentieth, or on the Friday before it. Lines
 with a wrong checksum are put into a second file that nobody reads, so look into it. Corrections
 after the cut-off are paid with the next month, except for parental leave, which is paid by hand
 at once.|payroll cut-off
The telescope is parked with the tube to the south before the dome is closed. Frost on the corrector
 is removed with the heater band, never with a cloth. Guide stars fainter than ninth magnitude need
 the long exposure profile. After a power cut run the homing script twice, the first run always
 stops at the limit switch.|telescope after power cut
When the choir rents the hall, chairs for eighty are stacked behind the stage and the piano is
 locked. The key hangs with the janitor, who wants it back before ten. Heating must be ordered three
 days ahead by telephone. In winter the side entrance is the only one that is cleared of
 snow.|piano key
The press in the print shop takes paper up to three hundred grams. Thicker stock jams in the second
 gripper and has to be pulled out backwards with the drum unlocked. Ink is changed from light to
 dark in the course of a day, never the other way. On Fridays the rollers are taken out and
 washed.|paper jam
Bees are fed with syrup from August, three litres a hive, until the frames are heavy. Mites are
 counted on the board under the mesh after three days; more than thirty mean a treatment with
 formic acid when it is cooler than thirty degrees. The entrance is narrowed in October against
 mice and wasps.|mite treatment threshold
The tower clock gains four seconds a day in summer. Put a penny on the tray of the pendulum to slow
 it by half a second, and take one off in winter. Winding takes ninety turns for the going train
 and two hundred for the strike. Hold the hammer back while you set the hands.|clock runs fast
Samples from the river are taken at the bridge, at the weir and below the sewage plant, always in
 that order and before noon. Bottles are rinsed three times with the water itself. Nitrate is
 measured on the same day, phosphate may wait on ice until the next. Write the level of the gauge
 on each label.|order of river sampling
The kiln climbs by sixty degrees an hour up to six hundred, and then as fast as it can to twelve
 hundred and forty. It holds that for twenty minutes. Open the lid a hand's breadth below two
 hundred only, else the glaze crazes. The cone on the middle shelf tells more than the
 display.|glaze cracks
Visitors of the archive leave bags and coats in the lockers and write with pencils. Parchment is
 turned with clean dry hands, photographs with gloves. Copies are made by staff, ten a day at most.
 Files that are younger than thirty years need a permit from the ministry, which takes a
 month.|permit for recent files
The ferry carries four lorries or fourteen cars, lorries in the middle. Above wind force seven it
 stays in port, and bookings are moved to the next day for free. Gas bottles must be declared, one
 for each camper. Dogs travel on the upper deck.|storm cancellation ferry
"""

# What a person does, is or has; the same attributes for everybody. Fact, values, two questions.
PEOPLE_FACTS = {
    "instrument": (
        "{who} has been playing the {value} since childhood.",
        "cello oboe banjo trumpet harp clarinet accordion viola".split(),
        "Which instrument does {who} play?",
    ),
    "allergy": (
        "{who} gets a rash from {value}.",
        "peanuts shellfish strawberries latex penicillin nickel lupins sesame".split(),
        "What is {who} allergic to?",
    ),
    "birthday": (
        "{who} was born on {value}.",
        "3 May;17 August;29 January;8 November;21 March;11 July;2 October;30 June".split(";"),
        "When is the birthday of {who}?",
    ),
    "transport": (
        "{who} comes to the office by {value}.",
        "tram bike ferry scooter train bus car foot".split(),
        "How does {who} get to work?",
    ),
    "pet": (
        "{who} keeps a {value} at home.",
        "parrot tortoise hamster greyhound gecko rabbit siamese canary".split(),
        "What pet does {who} have?",
    ),
    "study": (
        "{who} has a degree in {value}.",
        "geology law chemistry history nursing botany economics linguistics".split(),
        "What did {who} study at university?",
    ),
}
STAFF = """Abena Bastian Chiara Darius Eunice Fabrice Gudrun Hamza Ilse Jorge Keiko Lorenzo Maren
Noor Osman Petra""".split()

# Minutes of weekly meetings: a topic, what was settled in one week, and in another.
MEETINGS = """\
the website|Rowan rewrites the landing page|the photographer comes on the 14th|Who rewrites the
 landing page, and when does the photographer come?
the budget|travel is capped at 9,000 for the quarter|the printer lease is not renewed|What is the
 travel cap, and what happens with the printer lease?
hiring|the analyst role is offered to Imani|interviews for the designer are done by video|Who got
 the offer for the analyst role and how are designers interviewed?
the fair in Lyon|the booth is shared with the Danish team|Tomasz ships the demo units by truck|With
 whom do we share the booth, and how do the demo units get to Lyon?
security|every laptop is encrypted before June|Priya runs the phishing test|By when are laptops
 encrypted and who runs the phishing test?
the office move|the lease in the old mill is signed|plants and desks are given to the school|Which
 lease was signed, and what happens with the desks?
customer interviews|twelve farmers are asked before harvest|answers are kept in the blue
 binder|How many farmers are asked, and where are their answers kept?
the newsletter|it goes out on the first Monday|Wen writes the column on soil|When does the
 newsletter go out and who writes about soil?
the pilot in Porto|sensors are mounted at forty stops|the city pays half of it|How many stops get
 sensors, and who pays for half of the pilot?
training|first aid is repeated every two years|the course on welding is full|How often is first aid
 repeated, and which course is full?
the warehouse|the forklift is replaced in autumn|stocktaking moves to the last Friday|When is the
 forklift replaced and on what day is stocktaking?
the logo|the fox stays but loses its hat|the new typeface is Bembo|What changes about the fox, and
 which typeface do we take?
"""
MEETING_NOISE = """We went through {topic} and had nothing new.
{topic}: postponed to next week, half of us were ill.
Long talk about {topic}, opinions differ, no result.
Somebody asked about {topic} and was told to read the minutes.
On {topic} we wait for an answer from outside.""".splitlines()

# Lines of code, configuration and logs, and what somebody wants to know.
LINES = """\
gateway.toml: upstream_timeout_ms = 3500|upstream timeout of the gateway
nginx: client_max_body_size 64m;|how big may a request body be in nginx
ERROR worker-7 OOMKilled while resizing images, limit 512Mi|which worker ran out of memory
SELECT pg_advisory_lock(4711) held for 93 s by migrator|what held the advisory lock
def backoff(attempt): return min(2 ** attempt, 30)|how long is the longest backoff
kafka.topic.orders.retention=604800000|retention of the orders topic
2024-02-11T03:12:44Z cron: backup.sh exited with code 28|exit code of the nightly backup
DEPRECATED: use parseInvoiceV3 instead of parseInvoice|what replaces parseInvoice
assert response.status_code == 207  # multi-status for partial uploads|status code for partial
 uploads
redis-cli config set maxmemory-policy allkeys-lru|eviction policy of redis
git tag release-5.9 points at 8f3c2ab1|commit of release-5.9
FROM python:3.12-slim-bookworm AS build|base image of the build
WARN tls: certificate for api.example.org expires in 6 days|which certificate is about to expire
const MAX_RETRIES = 4; // payment provider asked for it|MAX_RETRIES
ssh -L 5433:db.internal:5432 bastion|tunnel to the internal database
feature_flags.yaml: new_checkout: { rollout: 15 }|rollout percentage of new_checkout
panic: runtime error: index out of range [3] with length 3 in cart.go:118|panic in cart.go
ulimit -n 65535 is set in /etc/security/limits.d/app.conf|where is the open file limit set
curl -H "X-Trace: 1" turns on verbose tracing for one call|header for verbose tracing
terraform: instance_type = "r6g.2xlarge" for reporting-db|size of the reporting database machine
LOCALE=de_CH.UTF-8 must be exported before the PDF job starts|locale of the pdf job
EXPLAIN: Seq Scan on shipments (cost=0.00..48213.00)|sequential scan on which table
make seed needs FIXTURES=large for the load test|how to seed for the load test
OSError: [Errno 24] Too many open files: 'spool/in'|errno 24
"""
LINE_NOISE = """INFO {service} started in {n}0 ms
INFO {service} handled {n}00 requests, none failed
DEBUG {service} cache hit ratio 0.{n}
{service}.port = 80{n}0
def {service}_check(n={n}): return True
TODO({service}): remove after release {n}
GET /{service}/v{n}/health 200""".splitlines()

# Said by a person and told by an assistant at length; somebody asks for it weeks later.
COUNSEL = """\
My sourdough never rises in this kitchen.|What you describe is usually a matter of warmth. Your
 kitchen has eighteen degrees, so the yeast needs twice the time the book says. Put the bowl into
 the oven with nothing but the lamp on, which gives about twenty-six. Feed the starter in the
 evening before, and do not judge by the clock but by the volume.|why did my bread stay flat
The landlord keeps the deposit because of scratches.|Let us sort what he may keep. Normal wear of a
 floor is covered by the rent, deep gouges are not. Ask for an itemised list within fourteen days,
 and name a date. If he stays silent the tenants' union writes the second letter for a small
 fee.|what can I do to get my security money back from the owner of the flat
I want to run ten kilometres by summer.|Begin with three outings a week and walk in between. In the
 first month no run is longer than twenty-five minutes. Add a tenth each week and take every fourth
 week easy. Shoes with a wide toe box saved your sister's knees, so try those.|training plan for the
 race
My daughter is afraid of the dark since we moved.|That is common at five, and it passes. Let her
 choose a lamp, and walk with her through the room when it is bright. Name what makes the noises,
 such as the boiler. A torch under the pillow gives her the power to look by herself.|how to help
 the
 child who fears the night
The car makes a grinding noise when I brake.|Grinding means metal on metal. The pads are gone and
 the disc is being scored with each stop. Drive no further than the next workshop. Have both sides
 of
 the axle done, and ask for the old parts.|what was wrong with the brakes
How can I tell my boss that I want to leave?|Do it in person and keep it short. Say that you have
 decided, thank her, and name your last day. Do not list complaints, they belong in no farewell.
 Bring
 the letter signed, with the notice of six weeks.|advice about resigning
We plan a week in Iceland in October.|October is between seasons, so roads inland are closed. Stay
 on
 the ring road and count on five hours of useful light for photographs. Book the car with gravel
 cover. Northern lights are likely around the new moon, which is on the second.|when can we see the
 aurora on the trip
The tomatoes have brown spots at the bottom.|That is blossom end rot, no disease. The plant cannot
 move calcium when the soil dries and floods in turn. Water little and each day, and mulch with
 straw.
 Eggshells come too late for this year.|what causes the marks on the vegetables
Is it worth fixing a phone with a broken screen?|For a model of that age the part costs a third of
 its price. The battery is tired as well, and both together make it half. If you need it for another
 year only, take a used screen and have it glued.|should the cracked display be repaired
I have been asked to speak at the wedding.|Three minutes are plenty. Begin with how you met him,
 tell
 one story that shows what kind of friend he is, and turn to both of them at the end. No jokes about
 former loves. Learn the first and the last sentence by heart.|how long should the toast be
Our cat scratches the new sofa.|Cats mark where they wake up. Put a post of sisal beside the corner
 she uses and rub it with valerian. Cover the fabric with a smooth throw for a month. Punishing
 makes
 her do it when you are out.|stop the pet from ruining furniture
My knee hurts when I go downstairs.|Pain on stairs points to the kneecap. Strengthen the muscle
 above
 it with wall sits, thirty seconds, five times a day. Ice helps in the evening. If it swells or
 locks,
 see somebody this week.|exercises for the joint
The bank refused the mortgage.|They look at the ratio of debt to income, and yours is above forty.
 Pay off the car first, that alone brings it to thirty-four. Ask again in the new year with the
 three
 last payslips. A second bank will look at the rent you have paid so far.|why was the home loan
 turned
 down
How do I get wine out of a linen tablecloth?|Work from the outside in. Pour hot water through the
 stain from a height, with the cloth stretched over a bowl. What stays goes with oxygen bleach over
 night. Salt is a tale, it only dries the rim.|remove red stain from fabric
"""

# Written down in one register, asked for in another.
REGISTER = """\
The undersigned terminates the lease with effect from 31 August.|when do we move out
Remuneration is disbursed on the penultimate working day of the month.|when do I get paid
Patient presents with persistent cephalalgia, worse in the morning.|who keeps having headaches
Kindly note that canine companions are not permitted on the premises.|can I bring my dog
The vessel is scheduled to depart at 0640 hours.|what time does the boat leave
Attendance of the induction is compulsory for all incoming personnel.|do newbies have to go to the
 intro
We regret that the consignment sustained damage in transit.|did the parcel get broken
The applicant is in possession of a licence for heavy goods vehicles.|is he allowed to drive a truck
dude the wifi key is bananasplit77 lol|What is the password of the wireless network?
gran's knackered hip gets swapped out on the 9th|When does grandmother have her joint surgery?
boss flipped out cos the numbers were off again|Why was the manager upset?
we're skint till friday so no takeaway|Why can we not order food this week?
kiddo aced her maths test yesterday|How did our daughter perform in the examination?
car's been nicked from outside the gym|Where was the vehicle stolen?
mate of mine is tying the knot in june|Which friend gets married in summer?
the telly packed up right before the final|What broke down before the match?
The premises are to be vacated in the event of an acoustic signal.|what to do when the alarm goes
 off
A surcharge applies to remittances received after the due date.|what if I pay late
The beverage dispenser on the third floor is out of order.|is the coffee machine broken
Employees may convert unused annual leave into monetary compensation.|can I get cash for holidays I
 did not take
The aforementioned aircraft was diverted owing to inclement weather.|why did the plane land
 somewhere else
my bro's place is like two stops from the stadium|How far does my brother live from the arena?
she dumped him for some drummer|Why did their relationship end?
got proper soaked cycling home|What happened on the way back by bike?
"""

# How a name is written in the memory, and how somebody types it.
MISSPELT = """\
Siobhan Gallagher|Shivon Galagher|leads the kidney ward|What does {} lead?
Thaddeus Okonkwo|Thadeus Okonkwo|repairs violins in a cellar|What does {} repair?
Genevieve Laurent|Genevive Lorent|bakes for the market in Arles|Where does {} sell her bread?
Wojciech Zielinski|Wojcech Zelinski|drives the night tram|Which job does {} do?
Mohammed Al-Rashid|Muhammad Al-Rasheed|teaches calligraphy|What subject does {} teach?
Katharina Brandt|Catherina Brand|coaches the rowing team|Whom does {} coach?
Nguyen Thi Hoa|Ngyuen Thi Hoa|grows orchids for export|What does {} grow?
Bjorn Sorensen|Bjoern Sorenson|owns the quarry at the fjord|What does {} own?
Anneliese Vogt|Annelise Voigt|restores church windows|What does {} restore?
Giuseppe Marchetti|Guiseppe Marcheti|makes lenses for lighthouses|What does {} make?
Phillipa Ashworth|Philippa Ashwerth|counts seabirds in spring|What does {} count?
Xiomara Delgado|Ximara Delgato|judges dog shows|What does {} judge?
Desmond Achterberg|Desmund Achtenberg|writes crosswords|What does {} write?
Ludmila Petrova|Lyudmila Petrowa|translates Norse sagas|What does {} translate?
Caoimhe Brennan|Keeva Brennan|flies rescue helicopters|What does {} fly?
Esmeralda Quintero|Esmerelda Quintaro|plans bridges|What kind of plans does {} draw?
"""
PASSING = """{} was at the dinner and left early.
{} sent a postcard from the lake.
{} asked for the minutes.
{} could not come because of the trains.""".splitlines()

# A note, and the one word that somebody types.
SINGLE = """\
The dentist moved the appointment to the 22nd at half past nine.|dentist
Dad takes warfarin, so no grapefruit for him.|grapefruit
The spare fuse is taped under the lid of the meter box.|fuses
Our plumber is called Ferris and answers only after six.|plumber
Marmalade needs 104 degrees to set.|marmalade
The boat has to be out of the water before the first frost.|boating
Insurance covers the tent, but not what is in it.|insurance
The bakery on Mill Lane closes on Wednesdays.|bakery
Lena's recital was moved into the chapel.|recital
Ask for Dr. Haddad at the eye clinic.|ophthalmologist
The compost must not get citrus peel.|composting
The passport runs out in April.|passports
Winter tyres are stored at the garage in Oak Street.|tires
For the marathon the bus to the start leaves at six.|marathon
Uncle Bert left the stamp collection to the museum.|philately
The router is reset by holding the pin for ten seconds.|router
Tuesday's choir is in the small hall.|singing
We pay the gardener for two hours a week.|gardener
The cellar floods when it rains for three days.|flooding
Nora's thesis is about moss on city walls.|thesis
"""

# What a person wants an assistant to do or to avoid, and when that matters.
WISHES = """\
Answer in bullet points, I read on my phone.|how should replies be laid out
Never book flights before eight in the morning.|earliest departure that is fine
Call me Lex, nobody says Alexandra.|what name do I go by
I would rather have the window seat on trains.|which place to reserve in the carriage
Use metric units in recipes.|grams or ounces
Do not suggest anything with coriander, it tastes of soap to me.|ingredients to leave out
Please keep code comments in English even when we speak Spanish.|language of comments in the source
I prefer pytest to unittest.|which framework for tests
Do not send reminders at the weekend.|when not to notify me
Spell it organise, not organize.|British or American spelling
Whenever you quote prices, include tax.|net or gross amounts
I like my coffee without sugar.|how do I drink my coffee
Always ask before you delete a file.|may files be removed without confirmation
My working hours are ten to six.|when am I at work
Use tabs in Makefiles and four spaces elsewhere.|indentation
Keep summaries under a hundred words.|maximum length of a summary
I do not drink alcohol.|is wine a good present for me
Write dates as day, month, year.|date format
No jokes in mails to customers.|tone towards clients
Put the meeting notes into the shared folder, not into chat.|where do minutes go
"""

# What was done, to what; and how it is asked for by the day.
DID = "repaired painted bought cooked lent".split()
WHAT = """the garden gate;an old lantern;two pumpkins;a stack of pancakes;the blue kettle;my bicycle
 pump;the kitchen stool;a pot of lentils;the radio;some apples;a wooden crate;the canoe;fresh
 noodles;the doorbell;a woollen hat;the birdhouse;the ladder;three jars of honey;a chessboard;the
 fence;the porch lamp;a rain barrel;the old toaster;a bag of chestnuts;the hammock;a kite;the
 sledge;a basket of plums;the mirror;a drum;the wheelbarrow;the tent poles;a cake tin;the
 oars""".replace("\n", "").split(";")
ASKED = {
    "repaired": "repair",
    "painted": "paint",
    "bought": "buy",
    "cooked": "cook",
    "lent": "lend",
}
WHEN = (
    "What did I {verb} on {day}?",
    "What did I {verb} {ago} days ago?",
    "On {day}, what did I {verb}?",
)
