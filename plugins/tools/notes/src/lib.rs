//! The notes app: one tool over the collection `notes`. It knows no other app.

mod notes;

use loopwright_sdk::{Collection, Identity, Storage, Tool, ToolPlugin, export_tool, identity};

/// The notes app.
#[derive(Debug)]
pub struct Notes;

impl ToolPlugin for Notes {
    const IDENTITY: Identity = identity!("notes");

    fn tools() -> Vec<Tool> {
        vec![
            Tool::new("manage_note", notes::manage)
                .domain("utilities_productivity")
                .en(
                    "Creates, changes, appends to, deletes, searches and lists notes. create needs title; update needs noteId; \
                     append and delete take noteId, or the exact title; search needs title, content or folder.",
                    "note, notes, memo, write down, jot, record, list, diary, folder",
                )
                .zh(
                    "新建、修改、追加、删除、搜索和列出笔记。create 需要 title；update 需要 noteId；append 和 delete 用 noteId 或完整标题；\
                     search 需要 title、content 或 folder。",
                    "笔记 便签 备忘录 备忘 记事 记录 记下 写下 清单 日记 文件夹",
                )
                .when("action", &["search", "query"])
                .reads()
                .when("action", &["delete"])
                .destructive()
                .writes(),
        ]
    }

    fn storage() -> Storage {
        let notes = Collection::new(notes::COLLECTION)
            .documents::<notes::Note>()
            .bookkeeping("/created")
            .bookkeeping("/updated")
            .index("/title")
            .index("/folder");
        Storage::new().owns(notes)
    }
}

export_tool!(Notes);

#[cfg(test)]
mod tests;
