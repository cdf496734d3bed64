"""Sentences of the second scenes, written to be asked once the ranking was settled."""

from __future__ import annotations

# Notes of a laboratory at some length, and a short question about each.
LAB = """\
Batch 14 was grown at thirty degrees for eighteen hours in the shaking flask, with half the usual
 sugar. Density reached two point one and then fell. The smell was off, and under the microscope
 there were rods between the round cells, so it was autoclaved and poured away.|why was batch 14
 thrown out
The new column was packed with sixty grams of resin and washed over night. Pressure climbed to nine
 bar at a flow of two, which is within what the maker allows. Recovery of the dye was ninety-four
 percent, better than on the old one, and the peak has lost its tail.|recovery on the new column
We switched the supplier of the gloves after three of us had red hands. The nitrile ones of the
 other brand tear at the thumb when they are wet, so take two pairs for work with acids.|skin
 irritation
The balance in room four drifts by a milligram an hour since the door was replaced. Calibrate it
 before each series and keep the door closed. The stone table was ordered and comes in spring.|drift
 of the scale
Freezer C is full. Boxes without a name and a date are thrown out on the first of the month, no
 matter what is in them. Antibodies go to the top shelf, plasmids to the second, everything that
 came with dry ice to the bottom.|where do antibodies belong
For the stain dissolve a tenth of a gram in a hundred millilitres, filter it and keep it in the
 dark. It lasts a fortnight. Ten minutes are enough for thin slices, thick ones take half an hour
 and a second bath.|how long does the stain keep
The laser needs twenty minutes before its power is steady. Note the reading of the meter at the
 start and at the end of a session. Above forty milliwatts the filter wheel gets hot and the green
 line leaks through.|warm-up of the laser
Mice of the third litter were weighed daily from the fifth to the twentieth day. Two stayed small,
 both from the cage by the window, and were moved. Since then they have caught up.|underweight pups
The fume hood alarm means that the sash is too high or that the filter is clogged. Lower it to the
 mark first. If it keeps beeping stop the work, close the bottles and tell the house
 technician.|hood beeps
Our standard curve has seven points from one to two hundred, each in triplicate. Leave out a point
 only when two of its three values differ by more than a fifth, and write down that you did.|when
 may
 a point be omitted
Water from the tap of the cold lab has copper in it, which kills the algae within a week. Use the
 canisters from the institute next door, and let them stand open for a day.|algae die
The grant report is due on the last of September. It needs the list of devices above five thousand,
 with serial numbers, and one figure that outsiders understand. Copies of invoices go to the
 dean.|what has to be in the grant report
"""

# Things and their places, all told alike; asked for by another name.
PLACES = """\
passport|top drawer of the bureau|travel document
corkscrew|basket beside the sink|wine opener
first aid kit|boot of the car|bandages
torch|hook by the cellar door|flashlight
Christmas lights|loft, behind the suitcases|festive decorations
sewing machine|cupboard under the stairs|thing to stitch clothes
spare glasses|glove compartment|second pair of spectacles
hammer|red toolbox in the shed|tool to drive in nails
board games|bottom shelf of the bookcase|something to play on a rainy evening
vacuum bags|laundry room, left of the dryer|bags for the hoover
birth certificates|grey folder at the bank|papers from when the kids were born
sleeping bags|chest on the landing|bedding for camping
bike lock|saddle bag|chain for the bicycle
thermometer|bathroom cabinet|device to check for a fever
umbrella|stand in the hallway|protection against rain
charger of the camera|desk, second drawer|camera battery charger
baking tins|oven drawer|moulds for cakes
insect spray|porch shelf|mosquito repellent
seeds|biscuit tin in the pantry|what I sow in spring
house deeds|safe at my brother's|proof that we own the home
"""

# What people reported on a morning; every name has several mornings.
STANDUPS = """\
Ravi|finished the login form|is blocked by the missing icons|What did Ravi finish and what blocks
 him?
Celine|moved the cron jobs to the new host|reviews the tax module today|What did Celine move, and
 which module does she review?
Oskar|wrote tests for the parser|has a doctor's appointment at noon|What has Oskar tested, and why
 is
 he away at noon?
Yuki|fixed the flicker of the map|pairs with Ravi on the icons|What did Yuki fix and with whom does
 she pair?
Dalia|interviewed four users in Leeds|writes up the findings by Thursday|Where did Dalia interview
 users, and by when are her findings ready?
Emeka|cut the bundle to 300 kB|upgrades the charts library|How small is Emeka's bundle and what does
 he upgrade?
Lotte|found the leak in the image cache|is on holiday from Friday|Where was the leak that Lotte
 found
 and when does her holiday begin?
Pavel|renewed the certificates|rotates the database passwords|What did Pavel renew and what does he
 rotate?
"""
STANDUP_NOISE = """{}: nothing special, going on with yesterday's work.
{}: meetings all day, I hate it.
{}: small fixes and mail.
{}: reading code, no news.
{}: same as yesterday.""".splitlines()

# Commands and settings that somebody noted, and what they are for.
SHELL = """\
lsof -i :8080 | head|see what listens on a port
git reflog; git reset --hard HEAD@{2}|undo a bad rebase
find . -size +100M -mtime -7|large files of the last week
ffmpeg -i in.mov -vf scale=1280:-2 out.mp4|shrink a video
rsync -avz --delete src/ host:/srv/app/|copy the app to the server
kubectl rollout undo deployment/web|go back to the former version of web
openssl s_client -connect host:443 -showcerts|look at the certificate chain
jq '.items[] | select(.ok == false)' report.json|failed items in the report
tar --exclude=node_modules -czf site.tgz site|pack the site without node_modules
psql -c "select pg_size_pretty(pg_database_size('crm'))"|how large is the crm database
chmod 600 ~/.ssh/id_ed25519|ssh complains about key permissions
docker system prune -af --volumes|free disk space taken by docker
export GODEBUG=gctrace=1|trace the garbage collector in go
systemctl edit --full nightly.timer|change when the nightly job runs
xrandr --output HDMI-1 --rotate left|turn the second screen
pip install --no-index --find-links wheels/ -r req.txt|install without internet
"""
SHELL_NOISE = """cd ~/work/{}{}
ls -la {}{}
vim {}{}/README
make -C {}{} all
tail -f /var/log/{}{}.log
git checkout {}{}""".splitlines()

# A lesson: what the learner asks, what the tutor explains, and how it is asked for later.
LESSONS = """\
What is a derivative?|Think of a car. The distance it has gone is a curve, and the speed at one
 moment is the slope of that curve right there. To get it you take two moments close together and
 let them come closer. That limit is what we call the derivative. For x squared it is two x, try it
 with three.|the example with the car and its speed
Why did the French revolt in 1789?|There is never one cause. The treasury was empty after the
 American war, bread had doubled in price after a bad harvest, and those who paid the taxes had no
 say. When the king called the estates together for money they began to count heads instead.|state
 bankruptcy and the price of bread
How do I use the subjunctive in Spanish?|You need it after wishes, doubts and feelings when the
 subject changes. Quiero que vengas, but quiero venir. Start from the first person, drop the o and
 take the opposite vowel. The irregular ones you learn by heart, there are six.|verb form for wishes
 and doubts
Can you explain inflation?|Money is worth what you can get for it. If there is more money and the
 same
 number of loaves, each loaf costs more coins. Central banks raise the rate to make borrowing dear,
 so
 that less is spent. A little of it is wanted, about two in a hundred.|why do things get more
 expensive
What does mitosis do?|A cell copies its threads, lines them up in the middle, and pulls one of each
 pair to either side. Then the wall closes in between. Your skin does it all day. It is not how eggs
 and sperm are made, that is the other one, with half the set.|how cells divide
How does a sonnet work?|Fourteen lines with five beats each. In the English kind there are three
 groups of four and a couplet that turns it all round. In the Italian one the turn comes after
 eight.
 Read one aloud and tap the table.|poem with fourteen lines
Why is the sky blue?|Sunlight holds all colours, and air scatters the short waves most. So blue
 comes
 to your eye from all sides, while red goes straight. At dusk the way through the air is long, the
 blue is used up, and what is left is red.|colour at sunset
What is recursion?|A function that calls itself with a smaller problem, until the problem is so
 small
 that the answer is plain. Two dolls are inside each other until there is one that does not open.
 Write
 the plain case first, or it never ends.|the dolls in programming
How do I balance an equation in chemistry?|Count the atoms of each kind on both sides. Begin with
 the
 element that stands in only one compound. Leave oxygen to the end, and use whole numbers only.|make
 both sides of a reaction equal
How should I practise scales?|Slowly, with a metronome, hands apart first. When three in a row were
 clean, go four beats faster. Ten minutes a day do more than an hour on Sunday. Say the fingering
 aloud where the thumb goes under.|piano exercise tempo
What is the difference between weather and climate?|Weather is what you put a coat on for, climate
 is
 what you buy the coat for. One is a day, the other is the mean of thirty years. A cold week says
 nothing about the latter.|average over decades
Why do we have leap years?|The earth needs a quarter of a day more than 365 to come round. After
 four
 years that is a whole one. As it is a little less than a quarter, three of them are left out in
 four
 centuries.|extra day in the calendar
"""

# Neighbours talk; who is it about?
GOSSIP = """\
Old Hendricks sold his boat to pay for the roof.|who needed cash for house repairs
The twins from number nine got into the conservatoire.|which kids study music now
Marguerite hasn't spoken to her brother since the funeral.|who fell out with a sibling
The vicar is learning to surf, at sixty.|which clergyman took up a sport
Somebody saw the mayor's car outside the casino again.|which politician gambles
Bettina quit the bank and keeps goats now.|who left finance for farming
The Larssons had triplets on Monday.|which family got three babies
Young Theo crashed the tractor into the pond.|who had an accident with farm machinery
The postman writes thrillers under another name.|who is secretly an author
Agnes has been sober for a year.|who stopped drinking
Mr Pereira's shop is closing after forty years.|whose business shuts down
The schoolteacher and the blacksmith are getting engaged.|which couple will marry
Ruth paid off everybody's library fines.|who was generous to borrowers
Ivan put solar panels on the barn.|who makes his own electricity
The baker's wife won a car in a raffle.|who had luck in a lottery
Doctor Amsel retires and nobody wants the practice.|which physician stops working
Carmen's youngest ran off to join the navy.|whose child became a sailor
The hunters found a Roman coin by the brook.|who discovered something ancient
"""

# The same language in the note and the question.
TONGUES = """\
La riunione con il notaio è spostata a giovedì alle undici.|Quando è l'appuntamento dal notaio?
Il gatto di Paola si chiama Pepe e ha paura dei tuoni.|Di cosa ha paura il gatto di Paola?
La chiave della cantina è sotto il vaso di basilico.|Dove si trova la chiave della cantina?
De fiets van Joost staat in de kelder van de buren.|Waar staat de fiets van Joost?
Vergeet niet dat Marloes geen noten mag eten.|Wat mag Marloes niet eten?
De huur gaat in april met dertig euro omhoog.|Hoeveel stijgt de huur?
Spotkanie rodziców jest w szkole w środę o osiemnastej.|O której jest spotkanie rodziców?
Hasło do drukarki to numer naszego mieszkania.|Jakie jest hasło do drukarki?
Babcia Zofia piecze sernik bez cukru.|Jak babcia Zofia piecze sernik?
Bilen ska besiktas före den sista mars.|När ska bilen besiktas?
Farmor vill ha en blå halsduk i present.|Vad vill farmor ha i present?
Nyckeln till stugan ligger under trappan.|Var ligger nyckeln till stugan?
Annemin doktoru ilaçları akşam yemeğinden sonra almasını istedi.|Annem ilaçları ne zaman almalı?
Arabanın lastikleri kasım ayında değiştirilecek.|Arabanın lastikleri ne zaman değişecek?
Komşunun köpeği Karabaş bahçeye girmesin.|Komşunun köpeğinin adı ne?
A reunião de pais foi adiada para sexta-feira.|Para quando foi adiada a reunião de pais?
O cartão da academia vence em setembro.|Quando vence o cartão da academia?
A tia Lúcia não gosta de coentro.|Do que a tia Lúcia não gosta?
Квартиру Ольги затопили соседи сверху.|Кто затопил квартиру Ольги?
Паспорт нужно забрать в пятницу до пяти.|Когда забрать паспорт?
Дедушка хранит удочки в гараже.|Где дедушка хранит удочки?
歯医者の予約は来週の火曜日の三時です。|歯医者の予約はいつですか
祖母の誕生日には紫の花を贈る。|祖母の誕生日に何を贈りますか
会议改到星期四下午两点。|会议改到什么时候
他对花生过敏。|他对什么过敏
"""

# Two or three words, without grammar.
KEYWORDS = """\
Rent is transferred on the first, 940 euros, to Mrs Castellano.|rent amount
The school run on Tuesdays is done by Piotr's mother.|tuesday school run
Grandpa's hearing aid takes size 312 batteries.|hearing aid battery size
We tip the cleaner at Easter and at Christmas.|cleaner tip
Our plot at the allotment is number 57, gate code 0912.|allotment gate code
The recipe of aunt Rosa's dumplings uses semolina, not flour.|dumplings flour
Flight LX 338 lands at 17:55 in terminal E.|flight landing time
The vet said that Balu must lose two kilos.|dog weight vet
Kindergarten is closed in the second week of August.|kindergarten closed
Bring the blue bin out on odd weeks, the black one on even weeks.|blue bin week
Nadine's wedding dress is with the tailor in Bonn until the 12th.|wedding dress tailor
The old laptop's disk was wiped and given to the club.|old laptop
Swimming lessons were paid up to level three.|swimming level paid
The electricity meter is read in December, 4 digits before the comma.|meter reading month
We promised the Okafors to feed their fish in July.|fish july
The lawnmower wants two-stroke mix, one to fifty.|mower fuel mix
Theatre seats are row G, 14 and 15.|theatre row
For the tax return keep the receipts of the childminder.|tax receipts
"""

# What was so, what is so now in other words, and a question.
MOVES = """\
The book club meets at Hanna's on Mondays.|As of this month the book club meets at the cafe, still
 on
 Mondays.|Where does the book club meet?
Our landlord is Mr Ferro.|The house was sold, the new landlord is a firm called Novadom.|Who is our
 landlord?
I take the 7:42 train to work.|They changed the timetable, now I take the 7:31 train to work.|Which
 train do I take to work?
Zoe's best friend at school is Mats.|Zoe and Mats had a row, her best friend at school is Ines
 now.|Who is Zoe's best friend at school?
The car is insured with Helvia.|I cancelled Helvia in autumn and insured the car with Baloma.|With
 whom is the car insured?
My running shoes are size 42.|The last pair pinched, so I buy running shoes in size 43 now.|What
 size
 are my running shoes?
The piano teacher comes on Fridays.|From September on the piano teacher comes on Saturdays.|On which
 day does the piano teacher come?
Dinner is at seven in our house.|Since the baby dinner is at half past five in our house.|At what
 time
 is dinner in our house?
We buy eggs from the Dutch farm.|The Dutch farm gave up its hens, so we buy eggs at the
 market.|Where
 do we buy eggs?
The alarm code is 2207.|After the burglary the alarm code was changed to 8816.|What is the alarm
 code?
Leo wants to become a pilot.|Leo flew once and was sick, he wants to become a vet.|What does Leo
 want
 to become?
The gym costs 35 a month.|They raised it again, the gym costs 42 a month.|How much does the gym
 cost a
 month?
Granny's doctor is Dr. Weiss.|Dr. Weiss has retired, granny's doctor is Dr. Yilmaz.|Who is granny's
 doctor?
The choir rehearses Brahms for the spring concert.|We gave up on Brahms and the choir rehearses
 Faure
 for the spring concert.|What does the choir rehearse for the spring concert?
"""
