;; attack:   tells its instances apart: each looks through memory, table and global for what an earlier one left, and leaves a mark in all
;;           three. With a mark it would know that it runs in a replay, or what another task's episode held.
;; expected: fresh
;; budget:   none: a new instance begins from the component's image, whatever its slot held. A mark found is a failure of code 418.
(table $table 64 64 funcref)
(global $mark (mut i64) (i64.const 0))
(func $marker)
(elem declare func $marker)
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (local $at i32) (local $end i32) (local $found i32)
    (drop (memory.grow (i32.const 64)))
    (local.set $end (i32.mul (memory.size) (i32.const 65536)))
    (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
    (block $done (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then (local.set $found (i32.const 1))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next)))
    (if (i64.ne (global.get $mark) (i64.const 0)) (then (local.set $found (i32.const 1))))
    (local.set $at (i32.const 0))
    (loop $next
        (if (i32.eqz (ref.is_null (table.get $table (local.get $at)))) (then (local.set $found (i32.const 1))))
        (table.set $table (local.get $at) (ref.func $marker))
        (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const 64))))
    (global.set $mark (i64.const 0x5ec2e75ec2e7))
    (memory.fill (global.get $heap) (i32.const 0xa5) (i32.sub (local.get $end) (global.get $heap)))
    (if (local.get $found) (then
        ;; The answer lies where the image begins, which nothing reads any more.
        (i32.store (i32.const 512) (i32.const 1)) (i32.store16 (i32.const 516) (i32.const 418))
        (i64.store (i32.const 520) (i64.const 8)) (i32.store (i32.const 528) (i32.const 0))
        (return (i32.const 512))))
    (global.get $done))
