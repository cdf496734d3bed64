"""More sentences for the generated corpora: decisions, tickets, facts in many languages, typos."""

from __future__ import annotations

# What was decided, what was decided later in other words, and a question about it.
DECISIONS = """\
We keep user sessions in Redis, because it is fast and everybody knows it.
User sessions move out of Redis: from now on PostgreSQL holds them, one store less to run.
Where are user sessions kept?
Releases go out on Thursdays after the review meeting.
After two bad weekends we agreed that releases go out on Tuesdays before noon.
On which day do releases go out?
The search service is written in Java by the platform team.
The rewrite is done: the search service is written in Rust now, and the Java one is switched off.
In which language is the search service written?
Logs are kept for 90 days and then deleted.
Legal asked for more, so logs are kept for 400 days before they are deleted.
How long are logs kept?
The mobile app supports iOS 15 and newer.
With the spring release the mobile app drops old phones and supports iOS 17 and newer only.
Which iOS versions does the mobile app support?
Our main cloud region is Frankfurt.
Since the price change our main cloud region is Stockholm.
What is our main cloud region?
Pull requests need one approval before they are merged.
Pull requests need two approvals, one of them from the owner of the module.
How many approvals does a pull request need?
We sign API tokens with HMAC and a shared secret.
API tokens are signed with Ed25519 now; the shared secret is revoked.
How do we sign API tokens?
Invoices are rendered by a headless browser.
Rendering invoices in a browser was too slow, a typesetting library renders invoices instead.
What renders the invoices?
The budget for the migration is 40,000 euros.
The board cut the budget for the migration to 25,000 euros.
What is the budget for the migration?
Marta is on call for the payment service in winter.
Marta went on leave: Idris is on call for the payment service.
Who is on call for the payment service?
Feature flags live in a YAML file beside the code.
We bought a tool for feature flags, and the YAML file beside the code is gone.
Where do feature flags live?
Dates are shown to customers in the format of the United States.
Dates are shown to customers in ISO form, whatever country they are in.
In which format are dates shown to customers?
The staging database is refreshed every night from production.
For privacy the staging database is filled with generated rows, production is no longer copied.
How is the staging database filled or refreshed?
Uploads may be at most 10 MB large.
Uploads may be at most 250 MB large since they go straight to the bucket.
How large may uploads be?
The design system uses a blue of hue 210 for buttons.
Buttons in the design system use a green of hue 150 after the rebranding.
Which colour do buttons in the design system use?
We test the checkout by hand before each release.
The checkout is tested by a robot in every build, nobody clicks through it by hand.
How is the checkout tested?
Mail is sent through a server in our own rack.
Mail is sent through a provider since the server in our rack was blocked.
How is mail sent?
The default page size of the list endpoint is 20.
The default page size of the list endpoint is 50, as the partners wished.
What is the default page size of the list endpoint?
Secrets are stored as variables of the build server.
Secrets are stored in a vault, and the variables of the build server were wiped.
Where are secrets stored?
"""
MODULES = "billing checkout search ledger mailer gateway importer scheduler".split()
EVENTS = """The deploy of {module} to staging took {n} minutes without errors.
We talked about the naming of tests in {module} and left it as it is.
{module} had {n} timeouts over the weekend, all from one customer.
A new colleague reads through {module} this week, pair with her on day {n}.
The dashboard of {module} has {n} panels, nobody looks at most of them.
Upgraded {n} libraries in {module}; the build is green.
The retrospective praised the documentation of {module} ({n} votes).
{module} was benchmarked with {n} workers, the bottleneck is the disk.""".splitlines()

# A ticket as a customer wrote it, what support answered, and how somebody asks for it later.
TICKETS = """\
hi, the invoice pdf from january is empty when i open it on my mac, only a white page
Thank you for writing to us. The preview on that system cannot show the font we embed. Please
 open the document in a browser, or download it again, we have made it anew. Is there anything
 else we can do for you? We are glad to help at any time of the day.
What did we tell the customer whose bill was a blank page?
cant log in since yesterday, it says my code is wrong but i typed it exactly as in the app
Sorry for the trouble. The clock of your phone is four minutes behind, so the codes have run
 out when you type them. Switch on automatic time in the settings of the phone. We are glad to
 help at any time of the day.
Why were the login codes of a customer rejected?
we were charged twice for the same month!! please send one of them back
We apologise. A retry at our bank ran although the first payment went through. The second
 amount goes back to your card within five working days. Is there anything else we can do?
How did we handle the double payment?
export to excel stops at 65000 rows, we have more than 200k
Thank you for the report. The old file format cannot hold more. Choose the newer one in the
 dialog, it has room for a million lines. We have put that on the list of defaults to change.
What is the workaround for large spreadsheets being cut off?
my colleague left the company, how do i get her projects
Please have an owner of the workspace open the page of members, and choose transfer beside the
 name. All boards and files move to you, comments stay hers. Is there anything else?
How can work of a former employee be handed over?
notifications come at 3 in the night, i am in new zealand
The digest was sent by the time of our office. We have set your account to Auckland, and it will
 come at eight in the morning. Thank you for your patience with us.
Which account got its time zone set to Auckland?
the api answers 429 all the time since this morning, we did not change anything
We looked at your traffic. A job of yours asks for every contact once a second. Ask for changes
 only, with the parameter since, and you will stay far below the limit.
What advice was given about too many requests?
how do i cancel? there is no button anywhere
We are sorry to see you go. The button is on the page of plans, at the very bottom, under the
 comparison. Your data stays for thirty days, in case you change your mind.
Where does one end the subscription?
pictures in the newsletter are blurry on phones
The images were uploaded in the width of the column, and phones have finer screens. Upload them
 twice as wide, the editor makes them fit. Have a nice day.
Why did photos look unsharp in the mailing?
the import says column 7 is invalid but there is no column 7 in my file
Your file has commas inside of addresses. Put those in quotes, or use semicolons between the
 fields. The message was misleading, we have rewritten it.
What was wrong with the upload that complained about a column?
is there a way to see who deleted our calendar
The log of the workspace keeps that for a year. Look for the word removed and the name of the
 calendar. It was an integration, not a person: a sync with an empty source.
How did we find out what erased a calendar?
video calls freeze after ten minutes at our school
The firewall of the school closes streams that it takes for idle. Ask whoever runs it to leave
 port 3478 open for longer. Until then let people switch their camera off and on.
What makes meetings hang at the school?
sso broke after we renamed our domain
The identity provider still sends the old name. Change the audience in its settings to the new
 one and upload the certificate again. We have allowed both names until Friday.
How is single sign-on mended after a change of domain?
the search doesnt find anything in japanese
Search split the text at blanks, of which there are none. Since the release of last week it
 reads pairs of characters. Please rebuild the index once, in the settings under advanced.
What must a customer do so that Japanese text is found?
can you delete everything you have about me, i mean it
We have erased your profile, messages and backups older than the legal minimum. Invoices must be
 kept for ten years by law. You get a confirmation as a signed document.
How did we answer the request for erasure of personal data?
dark mode makes the charts unreadable
The colours of series were fixed in the theme. We have released a palette that follows the mode.
 Reload the page with the cache emptied, and they will be bright again.
Was the problem with graphs on a black background solved?
"""

# Four facts in each language with their questions; {} is who.
LANGUAGES = """\
{} wohnt seit dem Frühling in einer kleinen Wohnung in Leipzig.|Wo wohnt {}?
{} arbeitet als Krankenpfleger in der Nachtschicht.|Was arbeitet {}?
{} verträgt keine Haselnüsse und liest jedes Etikett.|Was verträgt {} nicht?
{} spielt donnerstags Bratsche im Orchester.|Welches Instrument spielt {}?
{} a déménagé à Nantes avec ses deux chats.|Où a déménagé {} ?
{} travaille comme boulanger depuis dix ans.|Quel est le travail de {} ?
{} ne mange jamais de poisson cru.|Qu'est-ce que {} ne mange jamais ?
{} apprend la guitare avec un voisin.|Quel instrument apprend {} ?
{} vive en Zaragoza cerca del río.|¿Dónde vive {}?
{} trabaja de enfermera en un hospital infantil.|¿En qué trabaja {}?
{} es alérgica a los cacahuetes.|¿A qué es alérgica {}?
{} toca el violonchelo los domingos.|¿Qué toca {} los domingos?
{} mieszka we Wrocławiu niedaleko dworca.|Gdzie mieszka {}?
{} pracuje jako nauczyciel fizyki w liceum.|Jako kto pracuje {}?
{} nie może jeść orzechów ani sezamu.|Czego nie może jeść {}?
{} gra na skrzypcach w zespole ludowym.|Na czym gra {}?
{} живёт в Казани рядом с университетом.|Где живёт {}?
{} работает инженером на железной дороге.|Кем работает {}?
{} не переносит молоко и сыр.|Что не переносит {}?
{} играет на трубе в школьном оркестре.|На чём играет {}?
{} Ankara'da küçük bir evde oturuyor.|{} nerede oturuyor?
{} bir hastanede eczacı olarak çalışıyor.|{} ne olarak çalışıyor?
{} fıstık yiyemiyor, alerjisi var.|{} ne yiyemiyor?
{} hafta sonları keman çalıyor.|{} hafta sonları ne çalıyor?
{}住在成都，离地铁站很近。|{}住在哪里？
{}在一家银行当程序员。|{}在哪里工作？
{}对花生过敏，从来不吃。|{}对什么过敏？
{}每个星期天弹钢琴。|{}星期天弹什么？
{}は京都の古い家に住んでいます。|{}はどこに住んでいますか？
{}は病院で看護師として働いています。|{}の仕事は何ですか？
{}は卵を食べられません。|{}は何を食べられませんか？
{}は毎週バイオリンを弾きます。|{}は何を弾きますか？
"""
# Two who speak each language, in the same order.
SPEAKERS = (
    ("Klara", "Benno"),
    ("Élodie", "Mathis"),
    ("Lucía", "Álvaro"),
    ("Zofia", "Jakub"),
    ("Ольга", "Тимур"),
    ("Elif", "Kerem"),
    ("小明", "丽丽"),
    ("さくら", "健太"),
)

# A message typed in haste, and a question typed in haste.
HASTY = """\
dentst appointmnt is moved to wendsday 14:30
when is the dentist apointment
grocerys: oat milk, tomatos, coffe filters
what did i need from the grocery store, the coffee thing
landlord sais the heating gets fixd on monday
when does the landlord fix the heatting
my new locker nr is 4417 at the gym
whats my gym loker number
pls dont book aisle seats for me, i like windwo
which seat do i like on planes, window or isle
sarahs bday party is at the bowling ally on the 9th
where is sarahs birthday party
the plummer charges 85 an hour plus drive
how much does the plumber charge
i parked the car on levl 3 near the elevater
where did i park teh car
mom is alergic to penicilin, told the nurse
what is mom allergic to
train to hamburg leaves from platfrom 7
which platform for the hamburg train
the wifi at the cabin is pinecone77
whats the cabin wifi pasword
returned the drill to bob, he has the ladder stil
who has my laddar
finaly finished the tax forms, refund shoud be 612
how big is the tax refund
kids swim class is tuesdys at five now
when is the swiming class for the kids
vet says the cat needs drops twise a day for a week
how often does the cat get the drops
our anniversery dinner is at the greek place at 8
where do we have the anniversary diner
the blue suitcase has a broken zippr, take the grey one
which suitcase is broke
i owe marcus 40 for the concert tix
how much do i owe marcus for the tickets
neighbor waters the plants til sunday
who is watering the plants
new glasses are redy for pickup at the optcian
what can i pick up at the optician
bread recipie: 500 flour, 350 water, 10 salt
how much water goes in the bread recipe
meeting w the school principle is thursday morning
when do i meet the school principal
the spare key is under the flowrpot by the shed
where is the spare key
running shoes size is 43 in this brand, not 42
what size running shoes do i take
"""
SMALL_TALK = """lol yes|ok see you there|haha no way|thx!|on my way|sounds good|running late sry
call me later|did you see the game last nite|so tired today|cant talk now|omg that movie|brb
whats for dinner|nvm
good morning|its raining again|traffic is awful|happy friday|same here|who won|idk maybe
let me check|sent you the pics|did you eat alredy|love that song|be there in 10|nice one
ugh mondays|miss you
that was delicious|do we need anything|the bus is late agian|guess who i met|new haircut today
cool, lets do it|wait what|no worries|almost home|good night""".replace("\n", "|").split("|")
