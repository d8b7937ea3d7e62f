;; attack:   time that passes inside host calls, where neither fuel nor the epoch looks. No function of the contract waits, so this is as near
;;           to a sleep as a guest gets: it stores 4,000 documents and then asks, again and again, for all of them.
;; expected: host_bytes
;; budget:   `host_bytes`, of which every document that a query examines costs 32, charged before the host examines it.
(data (i32.const 16) "hostile")
(data (i32.const 32) "0")
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (local $n i32) (local $out i32)
    (local.set $out (call $alloc (i32.const 64)))
    (loop $fill
        ;; A key of five digits.
        (i32.store8 (i32.const 40) (i32.add (i32.const 48) (i32.rem_u (i32.div_u (local.get $n) (i32.const 10000)) (i32.const 10))))
        (i32.store8 (i32.const 41) (i32.add (i32.const 48) (i32.rem_u (i32.div_u (local.get $n) (i32.const 1000)) (i32.const 10))))
        (i32.store8 (i32.const 42) (i32.add (i32.const 48) (i32.rem_u (i32.div_u (local.get $n) (i32.const 100)) (i32.const 10))))
        (i32.store8 (i32.const 43) (i32.add (i32.const 48) (i32.rem_u (i32.div_u (local.get $n) (i32.const 10)) (i32.const 10))))
        (i32.store8 (i32.const 44) (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10))))
        (call $put (i32.const 16) (i32.const 7) (i32.const 40) (i32.const 5) (i32.const 32) (i32.const 1) (local.get $out))
        (if (i32.load8_u (local.get $out)) (then unreachable))
        (br_if $fill (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 4000))))
    (loop $again
        (call $find (i32.const 16) (i32.const 7)
            (i32.const 8) (i32.const 0) (i32.const 8) (i32.const 0) (i32.const 8) (i32.const 0)
            (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0) (local.get $out))
        (br $again))
    unreachable)
