//! Names that are common, and capitalised words that are none.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// English given names that are no other word, in lower case.
pub(super) static GIVEN: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony \
    donald steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob \
    gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory alexander frank patrick \
    raymond jack dennis jerry tyler aaron jose adam nathan henry douglas zachary peter kyle ethan walter noah \
    jeremy christian keith roger terry sean gerald carl harold dylan arthur lawrence jordan jesse bryan billy \
    bruce gabriel joe logan alan juan albert willie elijah wayne randy vincent mason roy ralph bobby russell \
    bradley philip eugene mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy \
    betty sandra margaret ashley kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca \
    sharon laura cynthia dorothy amy kathleen angela shirley emma brenda pamela nicole anna samantha katherine \
    christine debra rachel carolyn janet maria olivia heather helen catherine diane julie victoria joyce lauren \
    kelly christina ruth joan virginia judith evelyn hannah andrea megan cheryl jacqueline madison teresa abigail \
    sophia martha sara gloria janice kathryn ann isabella judy charlotte julia amber alice jean denise frances \
    danielle marilyn natalie beverly diana brittany theresa kayla alexis doris lori tiffany tom tim bob mike dave \
    steve dan ben sam alex chris kate liz meg beth nick tony luca marco priya rahul amit anita raj sanjay mohammed \
    ahmed fatima omar ali yuki kenji hiroshi sakura mei wei ming jing xiaoming carlos luis sofia elena ivan olga \
    dmitri anja lukas felix hans klaus greta ingrid lars sven chloe zoe mia lily leo oscar max ella liam owen"
        .split(' ')
        .collect()
});

/// Surnames in pinyin, in lower case: a capitalised word beside one is a name.
pub(super) static PINYIN_SURNAMES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "wang li zhang liu chen yang zhao huang zhou wu xu sun hu zhu gao lin guo luo liang zheng xie tang feng deng \
    cao peng zeng xiao tian dong pan jiang cai yu du ye cheng wei su lu ding ren shen yao cui zhong tan fan jin \
    shi liao jia xia fu fang zou xiong bai meng qin qiu hou yin xue yan lei long tao he gu mao hao gong shao qian \
    nguyen kim park lee tanaka suzuki sato smith johnson brown jones garcia miller davis wilson anderson taylor \
    moore jackson martin thompson white lopez harris clark lewis robinson walker hall young king wright hill green \
    adams baker nelson carter mitchell roberts turner phillips campbell parker evans edwards collins stewart \
    morris murphy patel khan singh sharma kumar müller schmidt weber rossi silva fernandez martinez hernandez"
        .split(' ')
        .collect()
});

/// Capitalised words in the middle of a sentence that are no person: places, languages, days, months, firms.
pub(super) static NO_PEOPLE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "i monday tuesday wednesday thursday friday saturday sunday january february march april may june july august \
    september october november december english french german spanish chinese japanese korean italian russian \
    american british european asian african indian christmas easter thanksgiving halloween new year north south \
    east west america europe asia africa china japan korea india germany france italy spain canada mexico brazil \
    australia england scotland ireland uk us usa eu london paris berlin madrid rome tokyo osaka kyoto beijing \
    shanghai hangzhou shenzhen guangzhou chengdu singapore york boston chicago seattle francisco san los angeles \
    denver toronto vancouver sydney melbourne dublin vienna zurich lisbon oslo hawaii california texas florida \
    google apple microsoft amazon netflix spotify python rust java javascript linux windows android wi-fi wifi \
    bluetooth gps usb pdf api tv ok pm am dr mr mrs ms the a celsius fahrenheit internet bible olympics ai id sms \
    url email atm dna covid nba fifa hotel airport"
        .split(' ')
        .collect()
});

/// Words that begin with a surname's character and are no name.
pub(super) static NO_NAMES_HAN: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "高兴 高铁 高中 高速 高度 高级 高考 高温 高价 高大 方便 方法 方式 方向 方面 方案 金额 金融 金色 白天 白色 白菜 \
    白酒 江边 石头 石油 马上 马路 马桶 黄色 黄金 黄昏 黄瓜 张开 周末 周一 周二 周三 周四 周五 周六 周日 周围 周期 \
    周年 钱包 钱的 万一 万元 陈述 程序 程度 林业 温度 温暖 温柔 向上 向下 向左 向右 许多 许可 于是 安全 安排 安静 \
    安装 常常 常用 时间 谢谢 谢了 夏天 夏季 秦朝 汉字 唐朝 宋朝 明天 明年 明白 毛衣 毛巾 毛病 雷雨 雷达 龙虾 龙头 \
    侯车 史上 史料 何时 何必 何况 何处 余额 余下 余地 任务 任何 任意 任性 严重 严格 严肃 武器 武术 孔雀 汤圆 田里 \
    田野 董事 范围 贺卡 顾客 顾问 戴上 戴着 戴口 莫名 莫非 水果 叶子 苏打 丁点 丁字 姜汤 姜茶 钟头 钟表 陆地 陆续 \
    胡子 胡椒 胡说 胡萝 罗马 韩国 韩语 韩剧 曾经 曾是 肖像 杜绝 平时 平安 王国 王子 王牌 李子 刘海 杨梅 杨树 徐徐 \
    孙子 孙女 朱红 成都 广州 杭州 苏州 付款 付钱 付了 付费 段时 段路 黎明 陶瓷 熊猫 谢意 孙辈 包括 经常 应该 方才 \
    万分 万里 白领 高楼 高手 高原"
        .split(' ')
        .collect()
});
