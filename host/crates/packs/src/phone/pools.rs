//! Words that parameters are drawn from: English, Chinese.

use super::draw::Two;

/// Names of people that no default contact has.
pub(super) const PEOPLE: &[Two] = &[
    ("Carol Zhang", "张伟"),
    ("David Chen", "陈静"),
    ("Emma Liu", "刘洋"),
    ("Frank Zhao", "赵敏"),
    ("Grace Sun", "孙丽"),
    ("Henry Zhou", "周杰"),
    ("Iris Wu", "吴芳"),
    ("Jack Xu", "徐强"),
    ("Lena Ma", "马超"),
    ("Oscar Hu", "胡军"),
];

/// What people write to each other.
pub(super) const MESSAGES: &[Two] = &[
    ("I'll be ten minutes late", "我会晚到十分钟"),
    ("Please bring the signed contract", "请带上签好的合同"),
    ("Dinner is at my place tonight", "今晚来我家吃饭"),
    ("The train has just left the station", "火车刚刚开出站"),
    ("Happy birthday to you", "祝你生日快乐"),
    ("Can you send me the slides", "能把幻灯片发给我吗"),
    ("The parcel is at the front desk", "快递放在前台了"),
    ("Let's meet in front of the library", "我们在图书馆门口见"),
    ("I got home safely", "我已经平安到家"),
    ("The meeting moved to room 305", "会议改到305房间了"),
];

/// Titles of events.
pub(super) const EVENTS: &[Two] = &[
    ("Budget review", "预算评审"),
    ("Dentist appointment", "看牙医"),
    ("Team lunch", "团队午餐"),
    ("Parents' evening", "家长会"),
    ("Project kickoff", "项目启动会"),
    ("Yoga class", "瑜伽课"),
    ("Interview with the candidate", "候选人面试"),
    ("Piano lesson", "钢琴课"),
];

/// Things to wake up or be reminded for.
pub(super) const LABELS: &[Two] = &[
    ("Gym", "健身"),
    ("Medicine", "吃药"),
    ("School run", "送孩子上学"),
    ("Morning run", "晨跑"),
    ("Airport", "去机场"),
    ("Language class", "上语言课"),
    ("Water the plants", "浇花"),
    ("Call home", "给家里打电话"),
];

/// Titles of notes with something to write in them.
pub(super) const NOTES: &[(Two, Two)] = &[
    (("Shopping list", "购物清单"), ("eggs, rice and tomatoes", "鸡蛋、大米和西红柿")),
    (("Packing list", "行李清单"), ("charger, passport, raincoat", "充电器、护照、雨衣")),
    (("Book ideas", "想读的书"), ("a history of the silk road", "丝绸之路的历史")),
    (("Café Luna", "Café Luna"), ("try the almond cake", "尝尝杏仁蛋糕")),
    (("Garden plan", "花园计划"), ("plant mint by the wall", "在墙边种薄荷")),
    (("Gift ideas", "礼物想法"), ("a blue scarf for mum", "给妈妈买一条蓝围巾")),
    (("Recipe tips", "做菜心得"), ("soak the beans overnight", "豆子要泡一夜")),
    (("Trip notes", "旅行笔记"), ("book the museum early", "博物馆要提前预约")),
];

/// Apps that a phone has. Their names are the same in both languages.
pub(super) const APPS: &[&str] = &["Browser", "Video", "Maps", "Games"];
