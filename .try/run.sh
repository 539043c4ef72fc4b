export PERFGATE_LOCK_DIR=/tmp/plock; mkdir -p $PERFGATE_LOCK_DIR
cd /work/main/.try; ../build/test/bin/perfgate run add.yaml --backend host --plugin kernels.py --out out 2>&1 | tail -30
