//! The messages app. It reads contacts and keeps numbers only, so a deleted contact leaves its messages whole (world rule 10).

mod messages;

use loopwright_sdk::{Collection, Identity, Requirement, Storage, Tool, ToolPlugin, identity};
use serde_json::json;

/// The domain of every tool here.
const DOMAIN: &str = "calls_communication";

struct Sms;

impl ToolPlugin for Sms {
    const IDENTITY: Identity = identity!("sms");

    fn tools() -> Vec<Tool> {
        let permission = Requirement::Permission("sms");
        vec![
            Tool::new("send_message", messages::send)
                .domain(DOMAIN)
                .en(
                    "Sends a text message to a contact or a number.",
                    "send message, text someone, sms, send a text, write to, tell him by message, message mom, send sms, let her know, drop a line",
                )
                .zh("给联系人或号码发送短信。", "发短信 发消息 发信息 短信 给妈妈发 告诉他 发条短信 通知一下 发个信息 短信告诉")
                .writes()
                .requires(Requirement::Network)
                .requires(Requirement::Unlocked)
                .requires(permission),
            Tool::new("search_messages", messages::search)
                .domain(DOMAIN)
                .en(
                    "Finds text messages by words, contact, date or unread state, newest first.",
                    "search messages, find text, read messages, unread messages, what did he write, last message from, sms inbox, verification code, did she text, show messages",
                )
                .zh("按内容、联系人、日期或未读状态查找短信，最新的在前。", "查短信 搜索短信 未读短信 看看短信 谁发来的 短信内容 验证码 最近的短信 收件箱 有没有短信")
                .reads()
                .requires(Requirement::Unlocked)
                .requires(permission),
            Tool::new("manage_message", messages::manage)
                .domain(DOMAIN)
                .en(
                    "Deletes a text message, marks it read, pins or unpins it, or forwards it.",
                    "delete message, delete text, mark as read, pin message, unpin, forward message, forward text, remove sms, send it on",
                )
                .zh("删除短信、标为已读、置顶或取消置顶、转发。", "删除短信 删短信 标为已读 置顶短信 取消置顶 转发短信 转发给 标记已读 删掉消息")
                .when("action", &["delete"])
                .destructive()
                .requires(permission)
                .when("action", &["forward"])
                .writes()
                .requires(Requirement::Network)
                .requires(Requirement::Unlocked)
                .requires(permission)
                .writes()
                .requires(permission),
        ]
    }

    fn storage() -> Storage {
        let message = |id: &str, peer: &str, direction: &str, time: &str, body: &str, read: bool| json!({"id": id, "peer": peer, "direction": direction, "time": time, "body": body, "read": read, "pinned": false, "type": "text", "created": time, "modified": time});
        Storage::new()
            .owns(
                Collection::new("messages")
                    .documents::<messages::Message>()
                    .bookkeeping("/created")
                    .bookkeeping("/modified")
                    .index("/peer")
                    .initial(
                        "msg-a",
                        message(
                            "msg-a",
                            "13811110001",
                            "in",
                            "2026-02-28T18:20:00+08:00",
                            "The report is due on Thursday.",
                            true,
                        ),
                    )
                    .initial(
                        "msg-b",
                        message("msg-b", "13811110003", "in", "2026-03-01T20:05:00+08:00", "周末回家吃饭吗？", false),
                    )
                    .initial(
                        "msg-c",
                        message(
                            "msg-c",
                            "13811110002",
                            "out",
                            "2026-03-01T12:00:00+08:00",
                            "See you at the station.",
                            true,
                        ),
                    )
                    .initial(
                        "msg-d",
                        message("msg-d", "10690000", "in", "2026-03-02T08:30:00+08:00", "Your code is 482913.", false),
                    ),
            )
            .reads("contacts")
    }
}

loopwright_sdk::export_tool!(Sms);

#[cfg(test)]
mod tests;
