#!/bin/sh
# Makes what RESULTS.md shows, from nothing: three seeds of the cold start, of reinforcement learning by outcome alone and by CARE, and the mask
# ablation; then measures all of them. About an hour on two cores; FOLDER must not have its runs already.
#   examples/phone/tables.sh [FOLDER]
set -eu
out=${1:-target/phone}
command=${LOOPWRIGHT:-target/bin/loopwright}
mkdir -p "$out"

cold() { # name seed more...
    name=$1 seed=$2
    shift 2
    "$command" train sft --course phone --out "$out/$name-$seed" --seed "$seed" --batch 32 --epochs 4 --learning-rate 2e-3 \
        --drop-facts 0.2 --drop-acts 0.3 "$@"
}

rl() { # estimator seed
    "$command" train rl --course phone --from "$out/sft-$2" --out "$out/$1-$2" --seed "$2" --estimator "$1" --steps 500 \
        --learning-rate 3e-4 --renumber 1 --dev-every 50 --dev-members 2 --refills 0
}

measure() { # name policy split
    "$command" eval --policy "$2" --split "$3" --json --out "$out/episodes/$1-$3" > "$out/$1-$3.json"
}

for seed in 0 1 2; do cold sft "$seed"; done
(for seed in 0 1 2; do rl vanilla "$seed"; done) &
beside=$!
for seed in 0 1 2; do rl care "$seed"; done
wait "$beside"
for seed in 0 1 2 3 4; do
    cold masked "$seed" --plant 0.3
    cold unmasked "$seed" --plant 0.3 --no-mask
done

for split in dev test; do
    for policy in random lexical shipped; do measure "$policy" "$policy" "$split"; done
    for seed in 0 1 2; do
        measure "sft-$seed" "$out/sft-$seed" "$split"
        # What dev chose.
        for estimator in vanilla care; do measure "$estimator-$seed" "$out/$estimator-$seed/best.safetensors" "$split"; done
    done
done
for seed in 0 1 2 3 4; do
    for arm in masked unmasked; do measure "$arm-$seed" "$out/$arm-$seed" dev; done
done
"$command" train compare "$out"/vanilla-[012] "$out"/care-[012] --chart "$out/curves.svg"
