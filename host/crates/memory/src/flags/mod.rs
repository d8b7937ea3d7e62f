//! Marks text that reads as an instruction to an assistant, in English and Chinese.
//!
//! A mark, not a judgement: retrieved text is evidence whatever it says, and what slips through here is still delimited and never obeyed. It knows
//! forms, not intentions: what paraphrases freely mostly goes unmarked. Of injections in the forms that patterns were written for, 71 of 75 are marked; of
//! twelve that were written afterwards and never tuned for, three. Of 86 harmless sentences, none (see the tests).

use std::sync::LazyLock;

use regex::Regex;

use crate::extract::view::View;
use crate::extract::{compile, sentences};

#[cfg(test)]
mod tests;

/// The longest text that is read, in bytes; what lies beyond is not.
pub const FLAG_BYTES_MAX: usize = 64 * 1024;

/// What makes a text read as an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstructionSign {
    /// It wants earlier instructions set aside.
    Override,
    /// It is written as a message of another role, or in the marks of a chat template.
    Role,
    /// It gives the assistant another identity or mode.
    Persona,
    /// It asks for what the assistant keeps to itself.
    Disclosure,
    /// It wants a tool or a command run, or data sent away.
    Act,
    /// It addresses the assistant or model as such.
    Address,
    /// It wants something kept from the user.
    Secrecy,
    /// It announces new instructions.
    Announcement,
    /// It wants something written into the memory about the user.
    Planting,
    /// None of these forms, but words of at least two kinds that seldom meet in one sentence: whom it addresses or by what authority, what rules or
    /// secrets it speaks of, and what is to become of them.
    Cues,
}

/// Signs and their patterns, read on a view in lower case.
const PATTERNS: &[(InstructionSign, &str)] = &[
    (
        InstructionSign::Override,
        r"\b(?:ignore|disregard|forget|override|bypass|overlook|discard|do not follow|don't follow|stop following|do not obey)\b[^.!?\n]{0,40}\b(?:instructions?|prompts?|rules|guidelines|directions|directives|constraints|programming|restrictions|guardrails|system message|(?:everything|anything|all) (?:above|before|you were told|that was said|you have been told))\b",
    ),
    (
        InstructionSign::Override,
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything|what)(?: of)? (?:above|before|previous|prior|you were told|you've been told|you know|i said before)\b",
    ),
    (
        InstructionSign::Override,
        r"(?:忽略|无视|忘记|忘掉|忘了|抛开|跳过|绕过|不要遵守|不必遵守|不用遵守|停止遵守|不要管|别管|推翻|作废)[^。!?\n]{0,16}(?:指令|指示|提示词|提示|规则|设定|限制|约束|系统消息|系统要求|安全策略)",
    ),
    (
        InstructionSign::Role,
        r"(?:^|\n)\W{0,6}(?:system|assistant|developer)(?: (?:prompt|message|note|override|notice))?\W{0,3}:|<\|?(?:im_start|im_end|system|assistant|endoftext)\|?>|\[/?inst\]|<</?sys>>|</?(?:system|instructions?|assistant)>|#{2,} ?(?:system|instructions?|new instructions?)\b|\[(?:system|admin|developer)[^\]]{0,30}\]",
    ),
    (
        InstructionSign::Role,
        r"(?:^|\n)\W{0,4}(?:系统|系统提示|系统消息|系统指令|管理员|开发者)(?:提示|消息|指令|通知)?\s*:|【(?:系统|管理员|开发者)[^】]{0,10}】",
    ),
    (
        InstructionSign::Persona,
        r"\byou are (?:now |no longer |hereby )(?:dan\b|bound|restricted|in (?:\w+ )?mode|an? (?:\w+ )?(?:unrestricted|uncensored|unfiltered|evil|different|new)|free (?:from|of)|limited)|\b(?:developer|debug|god|dan|jailbreak|admin|maintenance) mode\b|\b(?:pretend|act|behave|respond|roleplay) (?:to be|as|like|as if|that)[^.!?\n]{0,40}\b(?:unrestricted|uncensored|no (?:rules|restrictions|limits|filters)|without (?:rules|restrictions|limits|filters)|dan|evil|jailbroken)\b|\bdo anything now\b|\bfrom now on,? you (?:are|will|must|act|only)\b",
    ),
    (
        InstructionSign::Persona,
        r"(?:从现在(?:起|开始)|现在),?你(?:就)?(?:是|必须|只能|不再|扮演|将)[^。!?\n]{0,24}(?:没有(?:任何)?(?:限制|规则|约束)|不受|无限制|dan|黑客|必须|服从|听从|模式)|(?:开发者|调试|越狱|上帝|管理员)模式|你不再受[^。!?\n]{0,10}(?:限制|约束)|扮演[^。!?\n]{0,16}(?:没有|不受|无)[^。!?\n]{0,8}(?:限制|约束|规则)",
    ),
    (
        InstructionSign::Disclosure,
        r"\b(?:reveal|print|show|repeat|output|leak|display|disclose|dump|tell me|give me|share|recite|summari[sz]e)\b[^.!?\n]{0,40}\b(?:(?:system|hidden|initial|original|secret) (?:prompt|instructions?|message)|your (?:instructions|prompt|rules|guidelines|system prompt|hidden)|api keys?|(?:user|users|user's|users'|stored) (?:credentials|passwords|secrets|memories|tokens))\b",
    ),
    (
        InstructionSign::Disclosure,
        r"(?:透露|输出|打印|显示|泄露|说出|告诉我|展示|重复|复述|列出)[^。!?\n]{0,16}(?:系统提示|提示词|你的指令|你的规则|初始指令|隐藏指令|密钥|用户的?(?:密码|隐私|记忆|数据|凭证))",
    ),
    (
        InstructionSign::Act,
        r"\b(?:call|invoke|trigger|use|run|execute)\b (?:the |this |these |following |a )*(?:`?[a-z]+_[a-z_]+`?|tool|function|shell command|command|script|code|api)\b|\b(?:forward|send|transfer|upload|export|email|exfiltrate|post)\b (?:all|every|each|the user's|their|any|everything|its)\b[^.!?\n]{0,60}\bto\b[^.!?\n]{0,10}(?:\S+@\S+|https?:|www\.|this (?:address|account|number|server|url)|account)|\b(?:delete|erase|wipe) (?:all|every|the user's|everything)\b[^.!?\n]{0,30}\b(?:memor(?:y|ies)|data|files|records|contacts|history)\b",
    ),
    (
        InstructionSign::Act,
        r"(?:调用|执行|运行|触发)(?:以下|下面|下列|这个|这段|该)?的?(?:工具|函数|接口|命令|代码|脚本|指令)|把?(?:所有|全部|用户的?)[^。!?\n]{0,16}(?:转发|发送|上传|转账|发|导出)(?:到|给|至)[^。!?\n]{0,30}(?:@|http|www|账户|账号|邮箱|服务器|地址)|删除(?:所有|全部|用户的)[^。!?\n]{0,8}(?:记忆|数据|文件|记录|联系人)",
    ),
    (
        InstructionSign::Address,
        r"(?:^|[.!?\n:] ?|\b(?:attention|note to|message (?:to|for)|hey|dear|important|any|the|this|to the) )(?:ai|llm|language model|chatbot|ai (?:assistant|agent|model)|assistant|agent|model|bot)(?: reading this)?s?[,:]? (?:please|must|should|shall|you must|you should|will now|has to|is to|needs to|is required to|do not|don't|reply|respond|ignore|forward|transfer|send|delete|say|answer|recommend|rate|approve)\b|\bas an ai (?:language )?(?:model|assistant|agent),? (?:you|please|always|never)\b|\bif you are an? (?:ai|llm|language model|assistant|bot)\b|\bwhen (?:an?|the) (?:ai|llm|assistant|agent|model) (?:reads|processes|sees|summari[sz]es)\b",
    ),
    (
        InstructionSign::Address,
        r"(?:ai|人工智能|智能|语言模型|大模型|机器人|助手|模型)(?:助手|助理|模型|代理)?[,:]?(?:请|必须|应该|应当|务必|需要|现在|要|不要|不得|立即)[^。!?\n]{2}|如果你是(?:一个)?(?:ai|人工智能|语言模型|机器人|助手)",
    ),
    (
        InstructionSign::Secrecy,
        r"\b(?:do not|don't|never|without)\b (?:tell|inform|mention|notify|alert|warn|telling|informing|notifying|asking|alerting|ask|show|let)\b[^.!?\n]{0,24}\bthe user\b|\bkeep (?:this|it) (?:secret|hidden) from the user\b|\bwithout the user(?:'s)? (?:knowing|noticing|knowledge|consent|confirmation)\b",
    ),
    (
        InstructionSign::Secrecy,
        r"(?:不要|别|不得|无需|不必|不用)(?:告诉|通知|告知|提醒|让|询问|惊动)(?:该)?用户|瞒着用户|对用户保密|(?:不经|未经|无需)用户(?:的)?(?:同意|确认|许可)",
    ),
    (
        InstructionSign::Announcement,
        r"\b(?:new|updated|revised|real|actual|additional|hidden|urgent) (?:system )?(?:instructions?|directives?|orders?|objective)\b ?(?::|are\b|is\b|follow\b|below\b)|\byour (?:new|real|actual|true|only) (?:task|goal|objective|purpose|instructions?|job|role|mission) (?:is|are)\b|\bend of (?:system prompt|instructions|prompt)\b|\b(?:begin|start) (?:of )?(?:new )?(?:instructions|system prompt)\b|\b(?:obey|follow|comply with|carry out) (?:these|the following|my|this|the new) (?:instructions?|orders?|commands?|directives?)\b",
    ),
    (
        InstructionSign::Announcement,
        r"(?:新的?|最新|真正的|实际的?|紧急|隐藏的?)(?:系统)?(?:指令|指示|任务|命令|目标)(?:如下|是|为|:)|你(?:的|现在的)(?:新|真正的?|唯一的?)(?:任务|目标|身份|角色|职责)|(?:请|必须|务必)?(?:遵循|遵守|服从|执行|按照)(?:以下|下面|下列|新的?)(?:的)?(?:指令|指示|命令|步骤行事)",
    ),
    (
        InstructionSign::Planting,
        r"\b(?:remember|memori[sz]e|store|save|record|note|write|add|keep)\b[^.!?\n]{0,40}\b(?:that |: ?)?the user(?:'s| is| has| wants| prefers| likes| trusts| agreed| approved| authori[sz]ed| always| never)\b|\b(?:add|write|store|save|insert|commit) (?:this|the following|it|these)\b[^.!?\n]{0,20}\b(?:in|into|to) (?:your|the|long-term|its|permanent) memory\b",
    ),
    (
        InstructionSign::Planting,
        r"(?:记住|牢记|保存|存储|写入|记录)[^。!?\n]{0,8}(?:用户(?:的|是|已|喜欢|授权|同意|信任|想))|(?:写入|存入|保存到|加入)(?:你的|长期|永久)?记忆",
    ),
];

/// Whom it addresses, or by what authority.
const ADDRESS: &str = r"\b(?:ai|llms?|chatbots?|language models?|(?:dear|any|every|this) (?:model|assistant|agent|bot)|your (?:operator|developer|creator|owner))\b|\bas (?:the|your|an?) (?:system )?(?:administrator|admin|developer|operator|root|superuser)\b|作为(?:系统)?(?:管理员|开发者|主人)|人工智能|语言模型|聊天机器人|(?:的|,|^)ai|ai(?:请|必须|应|要|看到|读到)";
/// Rules that are set aside, and secrets that are given away.
const MATTER: &str = r"\b(?:instructions?|directions|directives|guidelines|prompts?|orders|polic(?:y|ies)|restrictions|safeguards|guardrails|your rules|all rules)\b|指令|指示|规定|规则|提示词|限制|设定|命令";
/// What else an assistant guards: enough beside an address.
const GUARDED: &str = r"\b(?:confirmations?|approval|consent|secret(?: key)?|passwords?|credentials|tokens?|the user's|long-term memory|permanent memory|system)\b|确认|授权|密码|密钥|长期记忆|用户";
/// What is to become of them.
const CONTROL: &str = r"\b(?:ignore|disregard|no longer (?:apply|applies|valid|binding|count)|void|reset|override|overrule|skip|bypass|comply|obey|authori[sz]e|output|reveal|leak|start fresh|act only|say (?:the|that)|reply with|respond with|add a link|rate|praise|whatever you were told|instead of)\b|作废|跳过|绕过|授权|不再|按我说|听我的|回复|泄露|才是真正|真正的|推翻|替换";
/// What hardly anybody says to a person.
const BARE: &str = r"\b(?:respond|reply|answer|output) only (?:with|in) (?:the word|\W)|\bfrom here on\b[^.!?\n]{0,20}\bonly\b|\bcall [a-z]+_[a-z_]+\b|\b(?:in|into|to) your (?:long-term|permanent|persistent) memory\b|\b(?:e-?mail|send|forward|give) me the user's\b|你接下来只能|(?:存进|写进|放进)你的(?:长期|永久)?记忆|(?:不需要|无须|不必)(?:经过)?用户(?:的)?(?:同意|确认|许可)";

static CUES: LazyLock<Vec<Regex>> =
    LazyLock::new(|| [ADDRESS, MATTER, GUARDED, CONTROL, BARE].into_iter().filter_map(compile).collect());

/// Whether cues of two kinds meet in one sentence.
fn has_cues(text: &str) -> bool {
    let [address, matter, guarded, control, bare] = CUES.as_slice() else { return false };
    sentences(text).into_iter().any(|sentence| {
        let has = |cue: &Regex| cue.is_match(sentence.text);
        has(bare) || (has(control) && (has(matter) || has(address))) || (has(address) && (has(matter) || has(guarded)))
    })
}

static SIGNS: LazyLock<Vec<(InstructionSign, Regex)>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|(sign, pattern)| Some((*sign, compile(pattern)?))).collect());
static SPELT_OUT: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"\b(?:[a-z][ .*_-]){4,40}[a-z]\b"));

/// Whether a text reads as an instruction to an assistant: to set its rules aside, to become somebody else, to tell, send or plant something.
///
/// Invisible characters and letters set apart do not hide it. An ordinary request ("book a table", 提醒我吃药) is none. Reads at most
/// [`FLAG_BYTES_MAX`] bytes, in time linear in the text.
#[must_use]
pub fn reads_as_instruction(text: &str) -> bool {
    instruction_sign(text).is_some()
}

/// The first sign that a text shows.
#[must_use]
pub fn instruction_sign(text: &str) -> Option<InstructionSign> {
    let view = View::new(text, FLAG_BYTES_MAX);
    let lower = view.text().to_lowercase();
    let shown = |text: &str| SIGNS.iter().find(|(_, pattern)| pattern.is_match(text)).map(|(sign, _)| *sign);
    let sign = shown(&lower).or_else(|| {
        let joined = SPELT_OUT.as_ref()?.replace_all(&lower, |found: &regex::Captures<'_>| {
            let letters: String =
                found.get(0).map_or("", |whole| whole.as_str()).chars().filter(char::is_ascii_lowercase).collect();
            letters
        });
        shown(&joined)
    });
    sign.or_else(|| has_cues(&lower).then_some(InstructionSign::Cues))
}
