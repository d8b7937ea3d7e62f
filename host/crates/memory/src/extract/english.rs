//! The rules for English. Patterns are read on a [`View`](super::view::View), without regard to case.

use super::Category;
use super::rule::Take::{
    Called, Happening, Job, Name, Organisation, Place, Plain, StrictName, Thing, Things, Towns, When, Whole,
};
use super::rule::{Rule, Tense};

/// All of them. Of two rules that take the same bytes for the same predicate the earlier one wins.
pub(super) const RULES: &[&[Rule]] =
    &[IDENTITY, PLACES, WORK, PEOPLE, THEIRS, INSTRUCTIONS, TO_DOS, FOOD, TASTE, ROUTINES, EVENTS, KNOWN];

const IDENTITY: &[Rule] = &[
    Rule::new(
        "name",
        Name,
        r"(?i)\b(?:my|the) (?:full |first |real |legal |own )*name(?:'s| is) {ADV}(?P<v>\p{L}[\p{L}' .-]*)",
    ),
    Rule::new(
        "name",
        StrictName,
        r"(?i)^(?:(?:hi|hello|hey)(?: there| all| everyone)?[,!. ]+)?{IAM} {WHO}(?:$|[,.!]| (?:and|here|from|by the way)\b)",
    ),
    Rule::new(
        "name",
        StrictName,
        r"(?i)^(?:hi|hello|hey)(?: there| all| everyone)?[,!. ]+this is {WHO}(?:$|[,.!]| (?:and|here|from|speaking)\b)",
    ),
    Rule::new("called", Called, r"(?i)(?:^|\b(?:please|just|you can|you may|can|so)[ ,]+)call me {VALUE}"),
    Rule::new("called", Called, r"(?i)\b(?:everyone|everybody|people|(?:my )?friends|they all) calls? me {VALUE}"),
    Rule::new(
        "called",
        Called,
        r"(?i)\b(?:i go by|my nickname is|(?:please )?address me as|you (?:can|may) address me as) {VALUE}",
    ),
    Rule::new("called", Called, r"(?i)\b(?:don't|do not|stop|never) (?:ever )?call(?:ing)? me {VALUE}").negated(),
    Rule::new("pronouns", Plain, r"(?i)\bmy pronouns are (?P<v>[a-z]+(?:/[a-z]+){1,2})"),
    Rule::new("age", Plain, r"(?i){IAM} {ADV}(?P<v>\d{1,3}|[a-z]+(?:-[a-z]+)?)(?: years? old| y/?o\b)"),
    Rule::new("age", Plain, r"(?i){IAM} {ADV}(?P<v>[1-9]\d)(?:[.,!]|$| (?:and|now)\b)"),
    Rule::new(
        "age",
        Plain,
        r"(?i)\bi(?:'ve)? {ADV}turn(?:ed)? (?P<v>[1-9]\d|twenty|thirty|forty|fifty|sixty|seventy|eighty)\b",
    )
    .tense(Tense::Began),
    Rule::new("birthday", When, r"(?i)\bmy birthday(?:'s| is|, )(?: on)? {VALUE}"),
    Rule::new("birthday", When, r"(?i)\bi was born on {VALUE}"),
    Rule::new(
        "phone",
        Plain,
        r"(?i)\bmy (?:new )?(?:phone|cell|mobile|telephone)(?: phone)?(?: number)?(?:'s| is)(?: now)? (?P<v>\+?[\d][\d ().-]{5,20}\d)",
    ),
    Rule::new(
        "email",
        Plain,
        r"(?i)\bmy (?:new |work |personal )*e-?mail(?: address)?(?:'s| is)(?: now)? (?P<v>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)",
    ),
];

const PLACES: &[Rule] = &[
    Rule::new("lives_in", Place, r"(?i)\b(?:i|we) {ADV}(?:live|reside) {ADV}in {VALUE}"),
    Rule::new("lives_in", Place, r"(?i)(?:{IAM}|\bwe're|\bwe are) {ADV}(?:living|based|residing) in {VALUE}"),
    Rule::new("lives_in", Place, r"(?i)\b(?:i|we)(?:'ve| have) {ADV}(?:been living|lived) in {VALUE}"),
    Rule::new("lives_in", Place, r"(?i)\b(?:i|we|my family and i)(?:'ve| have)? {ADV}(?:moved|relocated) (?:back |over |house )?(?:from [\w' ]{1,30}? )?to {VALUE}").tense(Tense::Began),
    Rule::new("lives_in", Place, r"(?i)(?:{IAM}|\bwe're|\bwe are|\bi'll be) {ADV}(?:moving|relocating) (?:back )?(?:from [\w' ]{1,30}? )?to {VALUE}").tense(Tense::Begins).sure(700),
    Rule::new("lives_in", Place, r"(?i)\b(?:i|we) {NOT} {ADV}live in {VALUE}").negated(),
    Rule::new("lives_in", Place, r"(?i)\b(?:i|we) used to live in {VALUE}").negated().sure(800),
    Rule::new("lives_in", Place, r"(?i)\b(?:i|we)(?:'ve| have)? {ADV}(?:moved away from|moved out of) {VALUE}").negated().tense(Tense::Began),
    Rule::new("lived_in", Place, r"(?i)\b(?:i|we) (?:once |previously )?lived in {VALUE}").set().tense(Tense::Past).long_term(Category::ImportantInfo),
    Rule::new("from", Place, r"(?i)(?:{IAM} {ADV}(?:originally )?from|\bi {ADV}come from|\bi grew up in|\bi was born (?:and raised )?in) {VALUE}"),
];

const WORK: &[Rule] = &[
    Rule::new("works_at", Organisation, r"(?i)\bi {ADV}work (?:at|for|with) {VALUE}"),
    Rule::new("works_at", Organisation, r"(?i){IAM} {ADV}(?:working|employed) (?:at|for|by) {VALUE}"),
    Rule::new("works_at", Organisation, r"(?i)\bi(?:'ve| have)? {ADV}(?:joined (?P<v>(?-i:\p{Lu})[^,;!?\n]+|(?:a|an|the) (?:[\w-]+ ){0,3}(?:startup|company|firm|bank|hospital|agency|lab|studio|newspaper)\b)|started (?:working |work |my (?:new )?job |a (?:new )?job )?(?:at|for) (?P<w>[^,;!?\n]+))").tense(Tense::Began),
    Rule::new("works_at", Organisation, r"(?i)\bi {NOT} {ADV}work (?:at|for) {VALUE}").negated(),
    Rule::new("works_at", Organisation, r"(?i)\bi used to work (?:at|for) {VALUE}").negated(),
    Rule::new("works_at", Organisation, r"(?i)\bi(?:'ve| have)? {ADV}(?:quit|left|lost|resigned from) (?:my )?(?:job|position|role) (?:at|with) {VALUE}").negated().tense(Tense::Began),
    Rule::new("works_at", Organisation, r"(?i)\bi(?:'ve| have)? {ADV}(?:left|resigned from) (?P<v>(?-i:\p{Lu})[^,;!?\n]+)").negated().tense(Tense::Began).sure(600),
    Rule::new("job", Job, r"(?i)\bi {ADV}work as {VALUE}"),
    Rule::new("job", Job, r"(?i){IAM} {ADV}(?:working as )?an? (?P<v>[^,;!?\n]+)").sure(800),
    Rule::new("job", Job, r"(?i)\bmy (?:new |current )?(?:job|job title|occupation|profession) is (?P<v>[^,;!?\n]+)"),
    Rule::new("job", Job, r"(?i)\b(?:i was|i got|i've been|i've just been|i just got) (?:recently |just )?promoted to {VALUE}").tense(Tense::Began),
    Rule::new("works_in", Thing, r"(?i)\bi {ADV}work in (?P<v>(?:marketing|finance|sales|healthcare|education|tech|law|it|hr|insurance|logistics|construction|media|retail|hospitality|consulting|advertising|banking|publishing|real estate)\b)"),
    Rule::new("studies", Thing, r"(?i)(?:{IAM} {ADV}studying|\bi {ADV}study|\bi {ADV}major in|{IAM} majoring in) (?P<v>[a-z][^,;!?\n]+?)(?: (?:at|in) .*)?$"),
    Rule::new("studies_at", Organisation, r"(?i)(?:{IAM} {ADV}studying|\bi {ADV}study|\bi {ADV}go to school|{IAM} {ADV}an? (?:\w+ ){0,3}student)(?: [a-z ]+?)? at {VALUE}"),
    Rule::new("works_at", Organisation, r"(?i)\bi(?:'ve| have) {ADV}been {ADV}working (?:at|for) {VALUE}"),
];

const PEOPLE: &[Rule] = &[
    Rule::new("relation", Name, r"(?i)\b(?:my|our) (?:\w+ )?(?P<q>{REL})(?:'s name is|,? who is called| is named| is called|,? named|,? called) {WHO}").set().long_term(Category::UserProfile),
    Rule::new("relation", Name, r"(?i)\b(?:my|our) (?:(?:older|younger|little|big|new|elder|twin) )?(?P<q>{REL})(?: is|'s|,)? {WHO}").set().long_term(Category::UserProfile).sure(850),
    Rule::new("relation", Name, r"(?i)\b(?:i|we)(?:'ve| have)(?: got)? (?:a|an|one) (?:\w+ )?(?P<q>{REL}),? (?:named|called) {WHO}").set().long_term(Category::UserProfile),
    Rule::new("relation", Name, r"(?i)\b{WHO} is (?:my|our) (?:(?:older|younger|little|big|new|elder|twin) )?(?P<q>{REL})(?:$|[.,!]| and\b| who\b)").set().long_term(Category::UserProfile),
    Rule::new("has_family", Plain, r"(?i)\b(?:i|we)(?:'ve| have)(?: got)? (?P<v>(?:two|three|four|five|six|seven|\d) (?:\w+ )?(?:{REL}s|children|kids))\b").set().long_term(Category::UserProfile),
    Rule::new("has_family", Plain, r"(?i)\b(?:i|we)(?:'ve| have)(?: got)? (?P<v>(?:a|an|one) (?:\w+ )?(?:wife|husband|sister|brother|son|daughter|girlfriend|boyfriend))(?:$|[.,!])").set().long_term(Category::UserProfile),
    Rule::new("lives_in", Place, r"(?i)\bmy (?P<who>{REL}),?(?: {NAME})?,? {ADV}(?:lives|is living|is based|resides) in {VALUE}").long_term(Category::ImportantInfo),
    Rule::new("works_at", Organisation, r"(?i)\bmy (?P<who>{REL}),?(?: {NAME})?,? {ADV}(?:works|is working) (?:at|for) {VALUE}").long_term(Category::ImportantInfo),
    Rule::new("allergic_to", Things, r"(?i)\bmy (?P<who>{REL}),?(?: {NAME})?,? is {ADV}(?:\w+ly )?allergic to {LIST}").set().long_term(Category::ImportantInfo),
    Rule::new("birthday", When, r"(?i)\bmy (?P<who>{REL})(?: {NAME})?'s birthday is(?: on)? {VALUE}").long_term(Category::ImportantInfo),
    Rule::new("likes", Things, r"(?i)\bmy (?P<who>{REL}),?(?: {NAME})?,? {ADV}(?:likes|loves|enjoys|adores) {LIST}").set().long_term(Category::ImportantInfo),
    Rule::new("likes", Things, r"(?i)\bmy (?P<who>{REL}),?(?: {NAME})?,? {ADV}(?:hates|dislikes|doesn't like|does not like|can't stand) {LIST}").set().negated().long_term(Category::ImportantInfo),
    Rule::new("pet", Name, r"(?i)\b(?:my|our) (?:\w+ )?(?P<q>{PET})(?:'s name is| is named| is called|,? named|,? called|,)? {WHO}").set().long_term(Category::UserProfile),
    Rule::new("pet", Name, r"(?i)\b(?:i|we)(?:'ve| have)? {ADV}(?:got |have |adopted |bought |rescued )?(?:a|an) (?:\w+ ){0,2}(?P<q>{PET}),? (?:named|called) {WHO}").set().long_term(Category::UserProfile),
    Rule::new("pet", Plain, r"(?i)\b(?:i|we)(?:'ve got| have|'ve) (?P<v>(?:a|an|one|two|three|four|\d) (?:\w+ )?{PET}s?)(?:$|[.,!]| (?:and|at)\b)").set().long_term(Category::UserProfile),
    Rule::new("relation", Name, r"(?i)\b(?:my|our) (?P<q>{REL})'s (?:named|called) {WHO}").set().long_term(Category::UserProfile),
];

/// What is said of somebody by their relation to the user.
const THEIRS: &[Rule] = &[
    Rule::new(
        "age",
        Plain,
        r"(?i)\bmy (?P<who>{REL})(?: {NAME})? is {ADV}(?P<v>\d{1,3}|[a-z]+(?:-[a-z]+)?) years? old",
    )
    .long_term(Category::ImportantInfo),
    Rule::new("age", Plain, r"(?i)\bmy (?P<who>{REL})(?: {NAME})?(?: is|'s) {ADV}(?P<v>[1-9]\d?)(?:[.,!]|$| now\b)")
        .long_term(Category::ImportantInfo),
    Rule::new("job", Job, r"(?i)\bmy (?P<who>{REL})(?: {NAME})? (?:is an?|works as an?) (?P<v>[^,;!?\n]+)")
        .long_term(Category::ImportantInfo),
    Rule::new(
        "phone",
        Plain,
        r"(?i)\bmy (?P<who>{REL})(?: {NAME})?'s (?:phone|cell|mobile)(?: number)? is (?P<v>\+?[\d][\d ().-]{5,20}\d)",
    )
    .long_term(Category::ImportantInfo),
    Rule::new(
        "email",
        Plain,
        r"(?i)\bmy (?P<who>{REL})(?: {NAME})?'s e-?mail(?: address)? is (?P<v>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)",
    )
    .long_term(Category::ImportantInfo),
    Rule::new("from", Place, r"(?i)\bmy (?P<who>{REL})(?: {NAME})? is {ADV}from {VALUE}")
        .long_term(Category::ImportantInfo),
];

const FOOD: &[Rule] = &[
    Rule::new("allergic_to", Things, r"(?i){IAM} {ADV}(?:\w+ly )?allergic to {LIST}").set(),
    Rule::new("allergic_to", Things, r"(?i){IAM} (?:no longer|not) allergic to {LIST}").set().negated(),
    Rule::new("allergic_to", Things, r"(?i)\bi(?:'ve| have)(?: got)? an? (?:\w+ )?allergy to {LIST}").set(),
    Rule::new("allergic_to", Thing, r"(?i)\bi(?:'ve| have)(?: got)? an? (?:severe |bad |serious )?(?P<v>[a-z]+(?: [a-z]+)?) allergy\b").set(),
    Rule::new("diet", Plain, r"(?i){IAM} {ADV}(?:an? )?(?:strict |lifelong )?(?P<v>vegetarian|vegan|pescatarian|omnivore)\b"),
    Rule::new("diet", Plain, r"(?i)(?:{IAM} (?:no longer|not)|\bi stopped being) {ADV}(?:an? )?(?P<v>vegetarian|vegan|pescatarian)\b").negated(),
    Rule::new("diet", Plain, r"(?i)\bi(?:'ve| have)? {ADV}(?:became|become|went|gone|turned) (?:an? )?(?P<v>vegetarian|vegan|pescatarian)\b").tense(Tense::Began),
    Rule::new("diet", Plain, r"(?i)\bi {ADV}(?:eat|keep|follow an?) (?P<v>halal|kosher|gluten-free|keto|low-carb)\b"),
    Rule::new("health", Plain, r"(?i){IAM} {ADV}(?:an? )?(?P<v>lactose intolerant|gluten intolerant|diabetic|celiac|coeliac|asthmatic|colou?r-?blind|pregnant)\b").set(),
    Rule::new("health", Thing, r"(?i)\bi {ADV}(?:suffer from|was diagnosed with|have been diagnosed with) {VALUE}").set(),
    Rule::new("avoids", Things, r"(?i)\bi {ADV}(?:don't|do not|can't|cannot|never|no longer) {ADV}(?:eat|drink) {LIST}").set(),
    Rule::new("allergic_to", Things, r"(?i){IAM} [^,;!?\n]+ and (?:\w+ly )?allergic to {LIST}").set(),
    Rule::new("health", Plain, r"(?i){IAM} {ADV}(?P<v>intolerant (?:to|of) [a-z ]{3,24})(?:$|[.,!])").set(),
];

const TASTE: &[Rule] = &[
    Rule::new("likes", Things, r"(?i)(?:^|[^'\w])i {ADV}(?:like|love|enjoy|adore) {LIST}").set().sure(850),
    Rule::new("likes", Things, r"(?i)(?:{IAM} {ADV}(?:into|fond of|an? (?:big |huge |great )?fan of)) {LIST}")
        .set()
        .sure(850),
    Rule::new("likes", Things, r"(?i)\bi {ADV}{NOT} {ADV}(?:like|love|enjoy) {LIST}").set().negated().sure(850),
    Rule::new(
        "likes",
        Things,
        r"(?i)\bi {ADV}(?:hate|dislike|detest|despise|can't stand|cannot stand|stopped liking) {LIST}",
    )
    .set()
    .negated()
    .sure(850),
    Rule::new(
        "likes",
        Things,
        r"(?i){IAM} (?:not|no longer) (?:really )?(?:an? (?:big |huge )?fan of|into|fond of) {LIST}",
    )
    .set()
    .negated()
    .sure(850),
    Rule::new(
        "likes",
        Things,
        r"(?i)\bone of my (?:all-time |new |absolute )*favou?rite [\w' -]+? (?:is|are|was|has to be) {LIST}",
    )
    .set()
    .sure(850),
    Rule::new(
        "favourite",
        Thing,
        r"(?i)\bmy (?:all-time |new |absolute )*favou?rite (?P<q>[\w' -]+?) (?:is|are|was|will always be) (?:now |still |currently )?{VALUE}",
    ),
    Rule::new(
        "favourite",
        Thing,
        r"(?i)(?:^|, |\b(?:and|but) )(?P<v>[\p{L}][\p{L}' -]+?) (?:is|are) my (?:all-time |new |absolute )*favou?rite (?P<q>[\w' -]+?)(?:$|[.,!])",
    ),
    Rule::new("prefers", Thing, r"(?i)\bi {ADV}prefer {VALUE}").sure(850),
    Rule::new("prefers", Thing, r"(?i)\bi {ADV}(?:don't|do not|no longer) {ADV}prefer {VALUE}").negated().sure(850),
    Rule::new("likes", Things, r"(?i){IAM} {ADV}keen on {LIST}").set().sure(850),
    Rule::new("likes", Things, r"(?i){IAM} (?:not|no longer) {ADV}keen on {LIST}").set().negated().sure(850),
];

const INSTRUCTIONS: &[Rule] = &[
    Rule::instruction(r"(?i)^(?:please |and |also |so )*always,? (?P<v>[^;!?\n]{3,}?),? (?:when|whenever|if|every time|any time) (?:i|we) (?:ask|talk|speak|inquire|want|mention|discuss|chat)(?: you)?(?: about| for)? (?P<q>[^,;!?\n]+)$"),
    Rule::instruction(r"(?i)^(?:please |and |also |so )*always,? (?P<v>(?:[a-z]*[a-ceh-rt-z] (?:me|us|my|our)\b|(?:use|answer|reply|respond|include|show|give|ask|confirm|check|provide|write|call|tell|keep|remind|format|explain|cite|mention|add|send|put|list|start|end|suggest|recommend|book|order|make|speak|let|offer|round|convert|translate|highlight|consider|say|address|refer|double-check|verify|save|try|choose|avoid|notify|warn|summari[sz]e|present|return|sort|assume|specify|display|begin|follow|be|quote|reference|note|prioriti[sz]e|remember|prefer|read|wait|pay|split|draw|describe|clarify|focus|stick|treat|leave|set|ensure|link|number|attach|copy|schedule|plan|pick|find|look|greet|welcome|compare|break)\b) ?[^;!?\n]{2,})"),
    Rule::instruction(r"(?i)^(?:please |and |also |so |oh,? )*(?P<v>never (?:ever )?(?:use|call|send|share|recommend|suggest|mention|show|book|schedule|give (?:me|us|out|my)|tell|put|add|include|order|contact|disturb|wake|remind|write|reply|answer|play|open|delete|buy|ask|make|pay|post|assume|start|end|save|store)\b[^;!?\n]+)"),
    Rule::instruction(r"(?i)^(?:please |and |also |so )*(?:from now on|going forward|in future|in the future|henceforth|starting now|starting today)[, ]+(?:please |you should |always |can you |could you )*(?P<v>(?:(?:use|answer|reply|respond|include|show|give|ask|confirm|check|provide|write|call|tell|keep|remind|format|explain|cite|mention|add|send|put|list|start|end|suggest|recommend|book|order|make|speak|let|offer|round|convert|translate|highlight|consider|say|address|refer|double-check|verify|save|try|choose|avoid|notify|warn|summari[sz]e|present|return|sort|assume|specify|display|begin|follow|be|quote|reference|note|prioriti[sz]e|remember|prefer|read|wait|pay|split|draw|describe|clarify|focus|stick|treat|leave|set|ensure|link|number|attach|copy|schedule|plan|pick|find|look|compare|break)|don't|do not|never|stop|no)\b[^;!?\n]{3,}?)(?: (?:when|whenever) i (?:ask|talk)(?: you)?(?: about| for)? (?P<q>[^,;!?\n]+))?$"),
    Rule::instruction(r"(?i)^(?:please )?(?P<v>(?:(?:use|answer|reply|respond|include|show|give|ask|confirm|check|provide|write|call|tell|keep|remind|format|explain|cite|mention|add|send|put|list|start|end|suggest|recommend|book|order|make|speak|let|offer|round|convert|translate|highlight|consider|say|address|refer|double-check|verify|save|try|choose|avoid|notify|warn|summari[sz]e|present|return|sort|assume|specify|display|begin|follow|be|quote|reference|note|prioriti[sz]e|remember|prefer|read|wait|pay|split|draw|describe|clarify|focus|stick|treat|leave|set|ensure|link|number|attach|copy|schedule|plan|pick|find|look|compare|break)|don't|do not|never|stop)\b[^,;!?\n]{3,}?),? (?:from now on|going forward)\W*$"),
    Rule::instruction(r"(?i)^(?:please )?(?:when|whenever|if|every time|any time|each time) (?:i|we) (?:ask|talk|speak|inquire|want to know|mention)(?: you)?(?: about| for)? (?:the )?(?P<q>[^,;!?\n]+), (?:please |you should |always |can you |could you )*(?P<v>[^;!?\n]{3,})"),
    Rule::instruction(r"(?i)^(?:please )?(?P<v>(?:don't|do not) (?:ever )?(?:use|call|send|share|recommend|suggest|mention|show|book|schedule|give (?:me|us|out|my)|put|add|include|order|contact|disturb|wake|write|reply|answer|play|delete|buy|post)\b[^;!?\n]+)").sure(700),
    Rule::instruction(r"(?i)\b(?:you should|you must|i want you to|i'd like you to|i need you to|make sure (?:you|to)|be sure to) (?:please )?always (?P<v>[^;!?\n]{3,})"),
    Rule::instruction(r"(?i)\b(?:you should|you must|i want you to|i'd like you to|i need you to|make sure (?:you|to)) (?P<v>never [^;!?\n]{3,})"),
    Rule::instruction(r"(?i)^(?:please )?(?P<v>stop (?:using|sending|calling|asking|recommending|suggesting|reminding|showing|adding|writing|telling|giving) [^;!?\n]+)"),
];

/// How often.
const ROUTINES: &[Rule] = &[
    Rule::routine(
        Plain,
        r"(?i)\b(?:i|we) {ADV}(?P<q>[a-z][^,;!?\n]+?) (?P<v>(?:every|each) (?:single |other )?(?:day|morning|afternoon|evening|night|week|weekday|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b[^,;!?\n]*)",
    ),
    Rule::routine(
        Plain,
        r"(?i)\b(?:i|we) {ADV}(?P<q>[a-z][^,;!?\n]+?)(?: at least)? (?P<v>(?:once|twice|three times|four times|five times|\d times) (?:a|per|each|every) (?:day|week|month|year))",
    ),
    Rule::routine(
        Plain,
        r"(?i)^(?P<v>(?:every|each) (?:single |other )?(?:day|morning|afternoon|evening|night|week|weekday|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?(?: (?:at|before|after|around) [^,;!?\n]{1,30}?)?),? (?:i|we) {ADV}(?P<q>[a-z][^,;!?\n]+)",
    ),
    Rule::routine(
        Plain,
        r"(?i)^(?P<v>on (?:mon|tues|wednes|thurs|fri|satur|sun)days(?: and (?:mon|tues|wednes|thurs|fri|satur|sun)days)?),? (?:i|we) {ADV}(?P<q>[a-z][^,;!?\n]+)",
    ),
    Rule::routine(
        Plain,
        r"(?i)\b(?:i|we) {ADV}(?P<q>[a-z][^,;!?\n]+?) (?P<v>on (?:mon|tues|wednes|thurs|fri|satur|sun)days(?: and (?:mon|tues|wednes|thurs|fri|satur|sun)days)?\b[^,;!?\n]*)",
    ),
    Rule::routine(
        Plain,
        r"(?i)\b(?:i|we) {ADV}(?P<q>[a-z][^,;!?\n]+?) (?P<v>(?:(?:at|around|by|before|after) [^,;!?\n]{1,20}? )?on (?:weekdays|workdays|work days|weekends|weeknights)\b)",
    ),
    Rule::routine(
        Plain,
        r"(?i)\b(?:i|we) (?:usually|always|normally|typically|generally) (?P<q>[a-z][^,;!?\n]+?) (?P<v>(?:at|around|by) (?:about )?(?:\d|noon|midnight|half|quarter|dawn|sunrise|night|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)[^,;!?\n]*|(?:before|after) (?:bed|work|school|lunch|dinner|breakfast|sleep|going|getting|my)[^,;!?\n]*)",
    ),
];

const EVENTS: &[Rule] = &[
    Rule::new("decided", Whole, r"(?i)\b(?:we|i)(?:'ve| have)? {ADV}(?:decided|agreed)(?: (?:to|that|on))? (?P<v>[^;!?\n]{3,})").set().tense(Tense::Future).long_term(Category::ImportantInfo),
    Rule::new("decided", Whole, r"(?i)\b(?:we|i)(?:'ve| have)? {ADV}(?:settled on|opted for|went with) (?P<v>[^;!?\n]{3,})").set().tense(Tense::Future).long_term(Category::ImportantInfo).sure(800),
    Rule::new("decided", Whole, r"(?i)\b(?:the plan is to|the decision is to|we're going with|we are going with) (?P<v>[^;!?\n]{3,})").set().tense(Tense::Future).long_term(Category::ImportantInfo).sure(800),
    Rule::new("scheduled", When, r"(?i)\b(?:i|we)(?:'ve got|'ve| have(?: got)?| scheduled| booked) (?:a |an |my |our |another )?(?P<q>(?:[\w'-]+ ){0,3}?(?:appointment|meeting|interview|exam|test|flight|concert|wedding|party|dinner|lunch|conference|call|class|surgery|deadline|checkup|check-up|reservation|date|presentation|game|match|show|session)(?: with [\w' ]{1,30}?)?) (?:scheduled )?(?:for )?(?P<v>[^,;!?\n]{2,})").tense(Tense::Future).long_term(Category::ImportantEvent).dated(),
    Rule::new("scheduled", When, r"(?i)\b(?:my|our|the) (?P<q>(?:[\w'-]+ ){0,3}?(?:appointment|meeting|interview|exam|test|flight|concert|wedding|party|dinner|lunch|conference|call|class|surgery|deadline|checkup|check-up|reservation|presentation|game|match|train|session)(?: with [\w' ]{1,30}?)?)(?:'s| is| are| will be|(?: is| was| has been| got)? (?:moved|rescheduled|postponed|changed|pushed|brought forward|scheduled|set)(?: back)? (?:to|for|until)) (?:now )?(?P<v>[^,;!?\n]{2,})").tense(Tense::Future).long_term(Category::ImportantEvent).dated(),
    Rule::new("event", Happening, r"(?i)\b(?:i|we)(?:'ve| have)? (?:just |finally |recently )*(?P<v>got (?:married|engaged|divorced|promoted|fired|hired|accepted|laid off|a new job|my driver's license)|graduated|gave birth|retired|eloped|passed away)\b").set().tense(Tense::Past).long_term(Category::ImportantEvent),
    Rule::new("event", Happening, r"(?i)\b(?:i|we) (?:just |finally |also )*(?P<v>(?:went to|went on|attended|visited|saw|bought|sold|met|ran|won|finished|started|signed up for|hosted|celebrated|broke|lost|passed|joined in|took part in|participated in|took|gave|had|volunteered|painted|made|hiked|camped)\b[^,;!?\n]*)").set().tense(Tense::Past).long_term(Category::ImportantEvent).dated().sure(750),
    Rule::new("trip_city", Towns, r"(?i)(?:{IAM}|\bwe're|\bwe are|\b(?:i|we)(?:'ll| will)(?: be)?) {ADV}(?:going to )?(?:fly(?:ing)?|travel(?:l?ing)?|going|go|heading|head|driv(?:e|ing)|visit(?:ing)?)(?: on a trip)?(?: to)? {LIST}").set().tense(Tense::Future).long_term(Category::ImportantEvent),
    Rule::new("trip_city", Towns, r"(?i)\b(?:(?:planning|booked|booking|planned|planning for|taking|organising|organizing) (?:a|our|my|another|the)|(?:my|our|an) upcoming) (?:\w+ )?(?:trip|vacation|holiday|journey|tour) (?:to|in|through) {LIST}").set().tense(Tense::Future).long_term(Category::ImportantEvent).sure(750),
    Rule::new("trip_city", Towns, r"(?i)(?:{IAM}|\bwe're|\bwe are) {ADV}off to {LIST}").set().tense(Tense::Future).long_term(Category::ImportantEvent),
    Rule::new("scheduled", When, r"(?i)\b(?:my|our|the) (?P<q>[\w-]+(?: [\w-]+)?) (?:is|was|has been|got|is being) (?:moved|rescheduled|postponed|pushed|brought forward)(?: back)? (?:to|until) (?P<v>[^,;!?\n]+)").tense(Tense::Future).long_term(Category::ImportantEvent).dated(),
];

const TO_DOS: &[Rule] = &[
    Rule::to_do(r"(?i)(?:^|[,:.] ?|\b(?:please|kindly|can you|could you|will you|would you|you to|and then|hey) )remind me,? (?P<t>[^,;!?\n]*?)(?:,? ?)\b(?:to|that i (?:need|have) to|about|of) (?P<v>[^;!?\n]{2,})"),
    Rule::to_do(r"(?i)\b(?:don't|do not) let me forget (?:to |about )?(?P<v>[^;!?\n]{2,})"),
    Rule::to_do(r"(?i)^(?:please |and |also |ok,? |oh,? |i (?:need|have|must) to )*(?:(?:don't|do not) forget (?:to |about )|remember to )(?P<v>[^;!?\n]*\b(?:my|me|our)\b[^;!?\n]*)"),
    Rule::to_do(r"(?i)^(?:please |and |also |ok,? |oh,? |i (?:need|have|must) to )*(?:(?:don't|do not) forget (?:to |about )|remember to )(?P<v>[^;!?\n]{2,})").dated(),
    Rule::to_do(r"(?i)^(?:note to self|to-?do|task|reminder)\s*[:-]\s*(?P<v>[^;!?\n]{2,})"),
    Rule::to_do(r"(?i)\badd (?P<v>[^;!?\n]{2,}?) to (?:my|the) (?:to-?do|task|shopping) ?(?:list|s)\b"),
    Rule::to_do(r"(?i)\bi(?:'ve got to| need to| have to| must|'ll have to| should) (?P<v>[^;!?\n]{3,})").dated().sure(700),
    Rule::done(r"(?i)\b(?:i|we)(?:'ve| have| just| already|'ve already| have already|'ve just| finally) (?:just |already |finally )?(?P<v>(?:booked|bought|paid|sent|called|finished|done|submitted|picked up|returned|renewed|cancell?ed|ordered|mailed|emailed|fixed|cleaned|watered|fed|taken|completed|handed in|signed|filed|reserved|packed|delivered|texted|replied to|dropped off|scheduled)\b[^,;!?\n]*)"),
    Rule::done(r"(?i)\b(?P<v>(?:the |my )?[\w ]{2,} (?:is|are) (?:already )?(?:done|finished|paid|booked|taken care of))\W*$").sure(600),
    Rule::correction(r"(?i)^(?:no,? |oh,? |wait,? )*actually,? (?:it's|it is|that's|that is|they're|it was) (?:not [^,]+, (?:but |it's )?)?{VALUE}"),
    Rule::correction(r"(?i)^(?:no,? |oh,? |oops,? )*(?:sorry,? )?(?:i meant|i mean|correction[:,]?|i misspoke[,:]?) (?:to say )?{VALUE}"),
    Rule::correction(r"(?i)^no,? it's {VALUE}"),
];

/// What is said of people whom the memory knows by name.
const KNOWN: &[Rule] = &[
    Rule::new("lives_in", Place, r"(?i)\b(?P<person>(?-i:\p{Lu}[\p{L}'-]*)(?: (?-i:\p{Lu}[\p{L}'-]*))?) {ADV}(?:lives|is living|is based) in {VALUE}").long_term(Category::ImportantInfo),
    Rule::new("works_at", Organisation, r"(?i)\b(?P<person>(?-i:\p{Lu}[\p{L}'-]*)(?: (?-i:\p{Lu}[\p{L}'-]*))?) {ADV}(?:works|is working) (?:at|for) {VALUE}").long_term(Category::ImportantInfo),
    Rule::new("allergic_to", Things, r"(?i)\b(?P<person>(?-i:\p{Lu}[\p{L}'-]*)(?: (?-i:\p{Lu}[\p{L}'-]*))?) is {ADV}(?:\w+ly )?allergic to {LIST}").set().long_term(Category::ImportantInfo),
    Rule::new("birthday", When, r"(?i)\b(?P<person>(?-i:\p{Lu}[\p{L}'-]*)(?: (?-i:\p{Lu}[\p{L}-]*))?)'s birthday is(?: on)? {VALUE}").long_term(Category::ImportantInfo),
    Rule::new("likes", Things, r"(?i)\b(?P<person>(?-i:\p{Lu}[\p{L}'-]*)(?: (?-i:\p{Lu}[\p{L}'-]*))?) {ADV}(?:likes|loves|enjoys|adores) {LIST}").set().long_term(Category::ImportantInfo),
];
