//! The rules for Chinese. Patterns are read on a [`View`](super::view::View): simplified characters, ASCII marks.

use super::Category;
use super::rule::Take::{
    Called, Happening, Job, Name, Organisation, Place, Plain, StrictName, Thing, Things, Towns, When, Whole,
};
use super::rule::{Rule, Tense};

/// All of them. Of two rules that take the same bytes for the same predicate the earlier one wins.
pub(super) const RULES: &[&[Rule]] =
    &[IDENTITY, PLACES, WORK, PEOPLE, THEIRS, INSTRUCTIONS, TO_DOS, FOOD, TASTE, ROUTINES, EVENTS, TOPICS, KNOWN];

const IDENTITY: &[Rule] = &[
    Rule::new("name", Name, r"(?:我|本人)(?:姓.,)?(?:{副})(?:的)?(?:名字|姓名|真名|全名)(?:是|叫){VALUE}"),
    Rule::new("name", StrictName, r"(?:我(?:{副})(?:是)?叫(?:做)?|我姓.,名?叫?)(?P<v>[\p{Han}\p{L}·]{1,24})"),
    Rule::new(
        "called",
        Called,
        r"(?:^|[,])(?:以后|你|您|大家|请|就|可以|都|从现在起|麻烦)*(?:叫|称呼|喊)我(?P<v>[\p{Han}\p{L}·]{1,12})",
    ),
    Rule::new(
        "called",
        Called,
        r"(?:大家|朋友|朋友们|同事|同事们|同学|别人)(?:们)?(?:都|一般)*(?:叫|称呼|喊)我(?P<v>[\p{Han}\p{L}·]{1,12})",
    ),
    Rule::new("called", Called, r"(?:别|不要|不用|别再|不要再)(?:叫|称呼|喊)我(?P<v>[\p{Han}\p{L}·]{1,12})").negated(),
    Rule::new(
        "age",
        Plain,
        r"我(?:{副})(?:今年)?(?:{副})(?:满)?(?P<v>[0-9]{1,3}|[一二三四五六七八九十百两]{1,5})(?:周)?岁",
    ),
    Rule::new("birthday", When, r"我的?生日(?:是在|是|在|:){VALUE}"),
    Rule::new(
        "birthday",
        When,
        r"我(?:是|出生于|生于)(?:在)?(?P<v>[0-9一二三四五六七八九十〇零年月]{2,16}[日号])(?:出生|生)?的?",
    ),
    Rule::new(
        "phone",
        Plain,
        r"我的?(?:新)?(?:手机|电话|联系方式)(?:号码|号)?(?:是|换成|改成|为|:)(?:了)?(?P<v>\+?[0-9][0-9 -]{5,18}[0-9])",
    ),
    Rule::new(
        "email",
        Plain,
        r"我的?(?:新)?(?:邮箱|邮件地址|电子邮箱)(?:地址)?(?:是|换成|改成|:)(?:了)?(?P<v>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)",
    ),
];

const PLACES: &[Rule] = &[
    Rule::new(
        "lives_in",
        Place,
        r"(?:我们|我)(?:{副})(?:跟[^,]{1,6}?|和[^,]{1,6}?)?(?:{副})(?:住在|居住在|定居在|定居|住){VALUE}",
    ),
    Rule::new("lives_in", Place, r"我(?:们)?家(?:就|现在|目前|住)?在{VALUE}"),
    Rule::new("lives_in", Place, r"(?:我们|我)(?:{副}){时}搬(?:家)?(?:到|去|来|回)(?:了)?{VALUE}").tense(Tense::Began),
    Rule::new("lives_in", Place, r"(?:我们|我)(?:{副})(?:不|不再|没)(?:再)?(?:住在|住){VALUE}").negated(),
    Rule::new("lives_in", Place, r"(?:我们|我)(?:以前|之前|曾经|过去|原来)(?:住在|住){VALUE}").negated().sure(800),
    Rule::new("from", Place, r"我(?:{副})(?:来自|出生在|出生于|老家是|老家在|的老家是|的老家在|的家乡是){VALUE}"),
    Rule::new("from", Place, r"我(?:{副})是(?P<v>\p{Han}{2,6}?)人(?:$|[,。!])"),
];

const WORK: &[Rule] = &[
    Rule::new(
        "works_at",
        Organisation,
        r"(?:^|[,]|我|我们)(?:{副})在(?P<v>[^,;!?。\n在]{2,24}?)(?:工作|上班|任职|就职)",
    ),
    Rule::new("works_at", Organisation, r"我(?:{副})(?:就职于|任职于|供职于|入职了|入职|加入了){VALUE}")
        .tense(Tense::Began),
    Rule::new("works_at", Organisation, r"我(?:{副})(?:不|不再)在(?P<v>[^,;!?。\n]{2,24}?)(?:工作|上班|任职|干)")
        .negated(),
    Rule::new("works_at", Organisation, r"我(?:{副}){时}从(?P<v>[^,;!?。\n]{2,24}?)(?:离职|辞职|离开|跳槽)")
        .negated()
        .tense(Tense::Began),
    Rule::new("job", Job, r"我(?:{副})是(?:一名|一个|一位|名|个|位|做)(?P<v>[^,;!?。\n]{1,16})"),
    Rule::new("job", Job, r"我的?(?:职业|工作|岗位|职位)(?:现在)?是(?:一名|一个|一位|做|当)?(?P<v>[^,;!?。\n]{1,16})"),
    Rule::new(
        "job",
        Job,
        r"我(?:{副})(?:在[^,;!?。\n]{1,16})?当(?:了)?(?P<v>[^,;!?。\n]{1,8}?(?:老师|医生|护士|经理|律师|司机|厨师|会计|教练|记者|编辑|导游|教师|工程师|设计师|程序员))",
    ),
    Rule::new(
        "studies_at",
        Organisation,
        r"我(?:{副})在(?P<v>[^,;!?。\n]{2,20}?(?:大学|学院|中学|高中|小学|学校|清华|北大|复旦))(?:读|念|学|上学|上课)",
    ),
    Rule::new(
        "studies_at",
        Organisation,
        r"我(?:{副})是(?P<v>[^,;!?。\n]{2,20}?(?:大学|学院|中学|高中|小学))的?(?:大一|大二|大三|大四)?(?:研究生|本科生|博士生|学生)",
    ),
    Rule::new("studies", Thing, r"我(?:的)?(?:{副})(?:专业是|学的是|读的是|主修)(?P<v>[^,;!?。\n]{1,16})"),
    Rule::new(
        "works_at",
        Organisation,
        r"(?:^|,|我)(?:{副})在(?P<v>[^,;!?。\n在]{2,16}?)(?:做|当|担任)[^,;!?。\n]{0,6}(?:产品经理|经理|老师|教师|工程师|设计师|会计|医生|护士|程序员|司机|厨师|律师|教练|主管|总监|顾问|销售|客服|编辑|运营|助理|保安|店长)",
    ),
    Rule::new(
        "job",
        Job,
        r"(?:^|,|我)(?:{副})在[^,;!?。\n在]{2,16}?(?:做|当|担任)(?:了)?(?:一名|一个)?(?P<v>[^,;!?。\n]{0,6}?(?:产品经理|经理|老师|教师|工程师|设计师|会计|医生|护士|程序员|司机|厨师|律师|教练|主管|总监|顾问|销售|客服|编辑|运营|助理|保安|店长))",
    ),
    Rule::new("job", Plain, r"我(?:{副})是做(?P<v>[^,;!?。\n]{2,10})的(?:$|[,。!])").sure(800),
];

const PEOPLE: &[Rule] = &[
    Rule::new("relation", Name, r"我(?:的|们)?(?P<q>{亲})(?:的名字|的小名)?(?:叫做|叫|名叫|是叫){VALUE}").set().long_term(Category::UserProfile),
    Rule::new("relation", Name, r"我(?:的)?(?P<q>{亲})(?P<v>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2}?)(?:在|是|住|对|的|明|今|昨|后天|下|上|周|要|会|也|都|喜欢|爱|不|刚|过|来|去|说|有|和|跟|,|。|!|$)").set().long_term(Category::UserProfile).sure(800),
    Rule::new("relation", Name, r"我(?:们)?(?:{副})有(?:一|两|三|1)?(?:个|位)(?P<q>{亲})(?:,)?(?:名字)?(?:叫|名叫){VALUE}").set().long_term(Category::UserProfile),
    Rule::new("has_family", Plain, r"我(?:们)?(?:{副})有(?P<v>(?:一|两|三|四|五|[1-9])个{亲})(?:$|[。,!])").set().long_term(Category::UserProfile),
    Rule::new("lives_in", Place, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?(?:{副})(?:住在|定居在){VALUE}").long_term(Category::ImportantInfo),
    Rule::new("works_at", Organisation, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?(?:他|她)?(?:{副})在(?P<v>[^,;!?。\n]{2,24}?)(?:工作|上班|任职)").long_term(Category::ImportantInfo),
    Rule::new("allergic_to", Things, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?(?:{副})对(?P<v>[^,;!?。\n]+?)(?:严重|轻度|有点)?过敏").set().long_term(Category::ImportantInfo),
    Rule::new("birthday", When, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?的?生日(?:是在|是|在){VALUE}").long_term(Category::ImportantInfo),
    Rule::new("likes", Things, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?(?:{副})(?:喜欢|爱吃|爱喝|爱看|爱听|爱玩|爱好|热衷于){LIST}").set().long_term(Category::ImportantInfo),
    Rule::new("likes", Things, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?(?:{副})(?:不喜欢|讨厌|不爱吃){LIST}").set().negated().long_term(Category::ImportantInfo),
    Rule::new("pet", Name, r"(?:我|我们|我家|我们家)(?:{副})(?:养了|养着|养|有|收养了|领养了)(?:一|两|三|1)?(?:只|条|个|头)?(?:小)?(?P<q>{宠}),?(?:名字)?(?:叫|名叫){VALUE}").set().long_term(Category::UserProfile),
    Rule::new("pet", Name, r"(?:我|我家|我们家|我们)(?:的)?(?:小)?(?P<q>{宠})(?:的名字)?(?:叫做|叫|名叫){VALUE}").set().long_term(Category::UserProfile),
    Rule::new("pet", Plain, r"(?:我|我们|我家)(?:{副})(?:养了|养着)(?P<v>(?:一|两|三|几|[1-9])(?:只|条|个|头){宠})(?:$|[。,!])").set().long_term(Category::UserProfile),
    Rule::new("relation", Name, r"我(?:的)?(?P<q>{亲})[^;!?。\n]{0,10}?,?(?:小名|名字|大名)(?:叫|是){VALUE}").set().long_term(Category::UserProfile),
];

/// What is said of somebody by their relation to the user.
const THEIRS: &[Rule] = &[
    Rule::new("age", Plain, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?(?:他|她)?(?:{副})(?:今年)?(?:{副})(?P<v>[0-9]{1,3}|[一二三四五六七八九十百两]{1,5})(?:周)?岁").long_term(Category::ImportantInfo),
    Rule::new("job", Job, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?(?:他|她)?(?:{副})(?:是|在)?(?:做|当|干|一名|一位|一个|名|位|个)(?P<v>[^,;!?。\n]{1,16}?)(?:的)?(?:$|[,。!])").long_term(Category::ImportantInfo),
    Rule::new("job", Job, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?的?(?:职业|工作|职位)是(?:一名|一位|做)?(?P<v>[^,;!?。\n]{1,16}?)(?:的)?(?:$|[,。!])").long_term(Category::ImportantInfo),
    Rule::new("phone", Plain, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?的?(?:手机|电话|联系方式)(?:号码|号)?(?:是|:)(?P<v>\+?[0-9][0-9 -]{5,18}[0-9])").long_term(Category::ImportantInfo),
    Rule::new("email", Plain, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?的?(?:邮箱|邮件|电子邮箱|电子邮件)(?:地址)?(?:是|:)(?P<v>[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+)").long_term(Category::ImportantInfo),
    Rule::new("education", Plain, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?(?:的)?[^;!?。\n]{0,12}?(?:学历|文化程度|读的|念的|毕业)[^;!?。\n]{0,8}?(?P<v>博士|硕士|研究生|本科|大专|专科|高中|中专|初中)").long_term(Category::ImportantInfo),
    Rule::new("education", Plain, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?(?:他|她)?(?:{副})只?(?:是|有)(?:个)?(?P<v>博士|硕士|研究生|本科|大专|专科|高中|中专|初中)(?:学历|毕业|文化|$|[,。!])").long_term(Category::ImportantInfo),
    Rule::new("from", Place, r"我(?:的)?(?P<who>{亲})(?P<name>(?:小|阿)\p{Han}|{姓}\p{Han}{1,2})?(?:他|她)?(?:{副})(?:是(?P<v>\p{Han}{2,6}?)人(?:$|[,。!])|(?:来自|老家在|老家是|的老家在|的老家是)(?P<w>[^,;!?。\n]{2,12}))").long_term(Category::ImportantInfo),
];

/// What is said of an event or a thing by its name.
const TOPICS: &[Rule] = &[
    Rule::new("scheduled", When, r"(?:^|,)(?P<q>[^,;!?。\n的是我你他她]{2,24})的(?:举办|开始|具体)?(?:时间|日期)(?:是|在|定在)(?:在)?(?P<v>[^,;!?。\n]{2,24})").tense(Tense::Future).long_term(Category::ImportantEvent).dated(),
    Rule::new("place", Place, r"(?:^|,)(?P<topic>[^,;!?。\n的是我你他她]{2,24})的(?:举办)?(?:地点|地址|位置)(?:是|在)(?:在)?{VALUE}").long_term(Category::ImportantInfo),
    Rule::new("duration", Plain, r"(?:^|,)(?P<topic>[^,;!?。\n的是我你他她]{2,24})的?(?:持续时间|时长)(?:是|为){VALUE}").long_term(Category::ImportantInfo),
    Rule::new("size", Plain, r"(?:^|,)(?P<topic>[^,;!?。\n的是我你他她]{2,24})的(?:规模|人数)(?:是|为|有){VALUE}").long_term(Category::ImportantInfo),
    Rule::new("content", Plain, r"(?:^|,)(?P<topic>[^,;!?。\n的是我你他她]{2,24})的(?:主要)?内容(?:是|为|有)(?P<v>[^;!?。\n]{2,160})").long_term(Category::ImportantInfo),
];

const FOOD: &[Rule] = &[
    Rule::new("allergic_to", Things, r"我(?:{副})(?:就)?对(?P<v>[^,;!?。\n]+?)(?:严重|轻度|有点|会)?过敏").set(),
    Rule::new("allergic_to", Things, r"我(?:{副})(?:不|不再)对(?P<v>[^,;!?。\n]+?)过敏").set().negated(),
    Rule::new(
        "diet",
        Plain,
        r"我(?:{副})(?:改|开始)?(?:是)?(?:一个|一名|个)?(?:严格的?)?(?:吃)?(?P<v>纯素|全素|素食|素)(?:主义者|者|的)?(?:$|[,。!了])",
    ),
    Rule::new("diet", Plain, r"我(?:{副})(?:不|不再)(?:吃|是)(?P<v>纯素|全素|素食|素)(?:主义者|者)?(?:了)?").negated(),
    Rule::new(
        "health",
        Plain,
        r"我(?:{副})(?:有|是)?(?P<v>乳糖不耐受|糖尿病|高血压|哮喘|色盲|怀孕|低血糖|痛风|偏头痛)",
    )
    .set(),
    Rule::new(
        "avoids",
        Things,
        r"我(?:{副})(?:从来|从不|从来都|一点都)?(?:不|不能|不再|忌)(?:吃|喝|碰)(?P<v>[^,;!?。\n]+)",
    )
    .set(),
    Rule::new("allergic_to", Things, r"我(?:{副})(?P<v>[^,;!?。\n对不有我]{1,8}?)(?:严重)?过敏").set().sure(800),
    Rule::new("avoids", Things, r",(?:也|还|并且)(?:不能|不)(?:吃|喝|碰)(?P<v>[^,;!?。\n]{1,20})").set().sure(700),
];

const TASTE: &[Rule] = &[
    Rule::new("favourite", Thing, r"我(?:{副})最(?:喜欢|爱|喜爱|爱吃|爱看|爱听)的(?P<q>[^,;!?。\n是]{1,12})(?:就)?(?:是|叫){VALUE}"),
    Rule::new("favourite", Thing, r"(?:^|[,])(?P<v>[^,;!?。\n是]{1,16})(?:就)?是我最(?:喜欢|爱|喜爱)的(?P<q>[^,;!?。\n]{1,12})"),
    Rule::new("prefers", Thing, r"我(?:{副})(?:更喜欢|比较喜欢|偏好|偏爱|更愿意|更爱|更倾向于|倾向于){VALUE}").sure(850),
    Rule::new("prefers", Thing, r"我(?:{副})喜欢(?P<v>[^,;!?。\n]{1,16}的(?:位置|座位|位子|房间|酒店|航班|方式|风格|车厢|车次|餐厅|语气|格式))(?:$|[,。!])").sure(850),
    Rule::new("likes", Things, r"我(?:{副})(?:喜欢|热爱|酷爱|喜爱|爱吃|爱喝|爱看|爱听|爱玩|迷上了|爱上了|爱){LIST}").set().sure(850),
    Rule::new("likes", Things, r"我(?:{副})(?:不太喜欢|不怎么喜欢|不再喜欢|不是很喜欢|不喜欢|没那么喜欢|不爱吃|不爱喝|不爱|讨厌|受不了|反感|最怕|嫌弃){LIST}").set().negated().sure(850),
];

const INSTRUCTIONS: &[Rule] = &[
    Rule::instruction(r"(?:^|[,])(?:以后|今后|从现在起)(?P<q>[^,;!?。\n都别不请要]{2,10}?)(?:的时候|时)?(?:一律|都|全都|统统)(?P<v>[^;!?。\n]{2,120})"),
    Rule::instruction(r"(?:^|[,])(?:以后|从现在起|从现在开始|从今以后|今后|从今天起|从今往后|往后)(?:,)?(?:我?(?:问|说|提到|聊到)(?P<q>[^,;!?。\n]{1,16}?)(?:的时候|时),?)?(?:请|你|您|都|就|要|务必|一律|记得|麻烦)*(?P<v>[^;!?。\n]{2,})"),
    Rule::instruction(r"^(?:请|麻烦|你)?(?:每次|每当|每回)(?:我)?(?P<q>[^,;!?。\n]{1,20}?)(?:的时候|时|之前|前)?,?(?:都|就)(?:请|要|得|必须|帮我)*(?P<v>[^;!?。\n]{2,})"),
    Rule::instruction(r"(?:^|[,])(?:当)?我(?:问|说|提到|聊到|问到|问起|查)(?P<q>[^,;!?。\n]{1,20}?)(?:的时候|时),?(?:请|都|就|要|总是|一律|务必|你)+(?P<v>[^;!?。\n]{2,})"),
    Rule::instruction(r"(?:^|[,])(?:请|麻烦|你|拜托)*(?P<v>(?:不要|别|永远不要|千万别|千万不要|绝对不要|不许|禁止)(?:再|总是|老是)?(?:给我|帮我|把|向|在|用|发|推荐|分享|打扰|提醒|告诉|透露|使用|回复|打电话|叫醒|吵|删|订|买|写|说)[^;!?。\n]+)").sure(800),
    Rule::instruction(r"^(?:请|麻烦|你|拜托)*(?:始终|永远|一律|务必|总是|一直)(?:都|要|请|用)?(?P<v>(?:用|以|使用|按|先|保持|给|把|称呼)[^;!?。\n]{2,})").sure(800),
];

const ROUTINES: &[Rule] = &[
    Rule::routine(
        Plain,
        r"^(?P<v>每(?:天|日|晚|逢?(?:周|星期|礼拜)[一二三四五六日天末]|周|个?月|年|个(?:周末|早上|晚上|工作日)|早)(?:(?:早上|上午|中午|下午|傍晚|晚上|凌晨|睡前|饭后)?(?:[0-9一二三四五六七八九十两]{1,3}[点时:](?:半|[0-9一二三四五六七八九十]{1,3}分?)?)?)?),?(?:我们|我)(?:都|会|要|一般|通常)*(?P<q>[^,;!?。\n]{1,24})",
    ),
    Rule::routine(
        Plain,
        r"(?:我们|我)(?:{副})(?P<v>每(?:天|日|晚|逢?(?:周|星期|礼拜)[一二三四五六日天末]|周|个?月|年|个(?:周末|早上|晚上|工作日)|早)(?:(?:早上|上午|中午|下午|傍晚|晚上|凌晨|睡前|饭后)?(?:[0-9一二三四五六七八九十两]{1,3}[点时:](?:半|[0-9一二三四五六七八九十]{1,3}分?)?)?)?)(?:都|会|要|就)*(?P<q>[^,;!?。\n]{1,24})",
    ),
    Rule::routine(
        Plain,
        r"(?:我们|我)(?:习惯|一般|通常|平时)(?:在)?(?P<v>(?:早上|上午|中午|下午|傍晚|晚上|睡前|饭后|饭前|起床后|周末)(?:[0-9一二三四五六七八九十两]{1,3}[点时:](?:半|[0-9一二三四五六七八九十]{1,3}分?)?)?)(?P<q>[^,;!?。\n]{1,24})",
    ),
];

const EVENTS: &[Rule] = &[
    Rule::new("decided", Whole, r"(?:我们|我|咱们|我俩|大家)(?:{副})(?:一致|最后|最终|还是)*(?:决定|商量好|说好|约定|定下来|打定主意|敲定)(?:了)?(?:要)?(?P<v>[^;!?。,\n]{2,})").set().tense(Tense::Future).long_term(Category::ImportantInfo),
    Rule::new("scheduled", When, r"(?:^|[,])(?:我们|我)?(?P<v>[^,;!?。\n的]{2,20}?)(?:我)?(?:有|要参加|要开)(?:一)?(?:个|场|次|节)?(?P<q>[^,;!?。\n有]{0,10}?(?:会议|面试|考试|预约|会|手术|演唱会|婚礼|聚会|聚餐|饭局|课|约会|航班|体检|比赛|答辩|汇报|培训))(?:$|[。,!要])").tense(Tense::Future).long_term(Category::ImportantEvent).dated(),
    Rule::new("scheduled", When, r"(?:^|[,]|把|我的|我们的)(?P<q>[^,;!?。\n把]{0,10}?(?:会议|面试|考试|预约|会|手术|演唱会|婚礼|聚会|聚餐|饭局|课|约会|航班|体检|比赛|答辩|汇报|培训))(?:时间)?(?:已经|被|现在)?(?:是在|是|在|定在|定到|约在|安排在|改到|改成|改在|推迟到|提前到|延期到|挪到|调到)(?:了)?(?P<v>[^,;!?。\n]{2,24})").tense(Tense::Future).long_term(Category::ImportantEvent).dated(),
    Rule::new("event", Happening, r"(?:我们|我)(?:{副})(?:在)?{时}(?P<v>(?:结婚|订婚|离婚|毕业|升职|退休|生了个?孩子|生了个?女儿|生了个?儿子|失业|被裁员)了?)(?:$|[,。!])").set().tense(Tense::Past).long_term(Category::ImportantEvent),
    Rule::new("event", Happening, r"(?:我们|我)(?:{副})(?:在)?{时}(?P<v>(?:去了|参加了|买了|卖了|看了|见了|去过|完成了|赢了|通过了|拿到了|开始了|报名了|爬了|跑了|做了|办了|收到了|去看了|去参加了)[^,;!?。\n]+)").set().tense(Tense::Past).long_term(Category::ImportantEvent).dated().sure(750),
    Rule::new("event", Happening, r"(?:我们|我)(?:{副}){时}(?P<v>(?:将要|将会|准备|打算|计划|要)(?:去)?参加[^,;!?。\n]{2,40})").set().tense(Tense::Future).long_term(Category::ImportantEvent).sure(800),
    Rule::new("trip_city", Towns, r"(?:我们|我)(?:{副}){时}(?:要|打算|准备|计划|会|想)?(?:去|飞往|飞|前往|到)(?P<v>[^,;!?。\n去]{2,}?)(?:旅游|出差|旅行|玩|度假|开会|看看|转转|自由行|游玩)").set().tense(Tense::Future).long_term(Category::ImportantEvent),
    Rule::new("scheduled", When, r"(?:^|[,]|把|我的)(?P<q>[^,;!?。\n把的我你他她]{1,8}?)(?:那边)?(?:已经|被)?(?:改到|改成|改在|推迟到|提前到|延期到|挪到|调到)(?:了)?(?P<v>[^,;!?。\n]{2,24})").tense(Tense::Future).long_term(Category::ImportantEvent).dated(),
];

const TO_DOS: &[Rule] = &[
    Rule::to_do(r"(?P<t>[^;!?。\n]*?)提醒(?:一下)?我(?:一下|一声)?(?:要|去|,)?(?P<v>[^;!?。\n]+)"),
    Rule::to_do(
        r"(?:^|[,])(?:请|麻烦|要|帮我|一定要|千万|务必)*(?:记得|别忘了|别忘记|不要忘了|不要忘记|别让我忘了|别让我忘记)(?:要)?(?P<v>[^;!?。\n]{2,})",
    ),
    Rule::to_do(r"^(?:待办|待办事项|备忘|备忘录)\s*:\s*(?P<v>[^;!?。\n]{2,})"),
    Rule::to_do(r"我(?:们)?(?:{副}){时}(?:得|需要|必须|要记得|还要)(?P<v>[^,;!?。\n]{2,})").dated().sure(700),
    Rule::done(
        r"我(?:们)?(?:已经|刚刚|刚才|刚)(?P<v>把?[^,;!?。\n]{0,20}?(?:订|买|交|付|寄|打|发|办|还|取|写|做|吃|洗|修|退|约|预约|完成|取消|提交|通知|缴|喂|浇|续|签|回复|联系|处理|搞定)(?:好|完|掉|过)?(?:了)?[^,;!?。\n]{0,30})",
    ),
    Rule::correction(r"^(?:不,|不对,|哦,|啊,)*(?:其实|实际上|准确地说)(?:应该)?(?:是|叫|在){VALUE}"),
    Rule::correction(r"^(?:不,|不对,|哦,)*(?:说错了|我说错了|更正一下|纠正一下|口误)[,:]?(?:应该)?(?:是)?{VALUE}"),
    Rule::correction(r"^(?:不,|不对,)*不是[^,;!?。\n]{1,20},?(?:而)?是{VALUE}"),
];

/// What is said of people whom the memory knows by name.
const KNOWN: &[Rule] = &[
    Rule::new("lives_in", Place, r"(?:^|,)(?P<person>\p{Han}{2,4}?)(?:{副})(?:住在|定居在){VALUE}")
        .long_term(Category::ImportantInfo),
    Rule::new(
        "works_at",
        Organisation,
        r"(?:^|,)(?P<person>\p{Han}{2,4}?)(?:{副})在(?P<v>[^,;!?。\n]{2,24}?)(?:工作|上班|任职)",
    )
    .long_term(Category::ImportantInfo),
    Rule::new("allergic_to", Things, r"(?:^|,)(?P<person>\p{Han}{2,4}?)(?:{副})对(?P<v>[^,;!?。\n]+?)过敏")
        .set()
        .long_term(Category::ImportantInfo),
    Rule::new("birthday", When, r"(?:^|,)(?P<person>\p{Han}{2,4}?)的?生日(?:是在|是|在){VALUE}")
        .long_term(Category::ImportantInfo),
    Rule::new(
        "likes",
        Things,
        r"(?:^|,)(?P<person>\p{Han}{2,4}?)(?:{副})(?:喜欢|爱吃|爱喝|爱看|爱听|爱玩|爱好|热衷于){LIST}",
    )
    .set()
    .long_term(Category::ImportantInfo),
];
