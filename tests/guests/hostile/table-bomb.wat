;; attack:   grows two tables in turn; a table's elements are host memory that no linear memory shows.
;; expected: tables
;; budget:   `table_elements` over the sum of all tables.
(table $one 1 funcref) (table $two 1 funcref)
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
        (drop (table.grow $one (ref.null func) (i32.const 1000))) (drop (table.grow $two (ref.null func) (i32.const 1000)))
        (br $again))
    unreachable)
