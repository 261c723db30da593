#!/usr/bin/env bash
# cases.sh COMMAND DIR runs the small inputs of DIR (tables, adapter, merge, masks, tall, files) with an antipode command
# and prints what it says, case by case, so that two builds can be compared. Python with numpy, Pillow and pyarrow
# (ANTIPODE_PYTHON) makes the files that DIR has scripts for. It works in a temporary folder and a store of its own.
set -u -o pipefail
antipode=$(realpath "$1") cases=$(realpath "$2") python=${ANTIPODE_PYTHON:-python3}
export ANTIPODE_PLUGIN=${ANTIPODE_PLUGIN:-none} ANTIPODE_HOME
work=$(mktemp -d) || exit 1
ANTIPODE_HOME=$work/store
trap '"$antipode" backend stop >/dev/null 2>&1; rm -rf "$work"' EXIT
cp -r "$cases"/. "$work" && chmod -R u+w "$work" && cd "$work" || exit 1

# try ARGUMENTS… runs the command and prints what it prints, without the lines about the plugin.
try() {
  echo "\$ antipode $*"
  timeout 300 "$antipode" "$@" 2>&1 | grep -vE 'ANTIPODE_PLUGIN|GOEXPERIMENT' | cut -c1-300
}

echo "=== tables: leading zeros, 18-digit keys, codes named nan, N/A among numbers, blank keys, equal columns"
for name in lead k18; do
  try table --in tables/$name.csv --out $name.out.csv
  cmp -s tables/$name.csv $name.out.csv && echo "the file is unchanged" || diff tables/$name.csv $name.out.csv
done
try table --in tables/na.csv --where 'score > 9'
try table --in tables/na.csv --sort score
try table --in tables/l.csv --join tables/rr4.csv --on id
try table --in tables/l.csv --join tables/rr2.csv --on k --suffix _2

echo "=== files: spellings of groups, Parquet dialects, hive folders, shards, image folders, archives"
(mkdir spell && cd spell && "$python" ../files/t1_mk.py && "$python" ../files/t1_mk2.py)
try score --metric precision-coverage --real spell/real.csv --gen spell/gen.csv --by region --k 3 --out spell/p.csv
try table --in spell/v.csv --count country
(mkdir layouts && cd layouts && "$python" ../files/t4_mk.py && "$python" ../files/t10_mk.py) >/dev/null
for name in imagefolder hf/data wds.tar hive shards; do
  try table --in layouts/$name --head 2
done

echo "=== images: file names in other spellings, color profiles, alpha, 16 bit"
(mkdir -p images/img/sub && cd images && "$python" ../files/t2_mk.py) >/dev/null 2>&1
try table --in images/t.csv --out images/o.csv
(mkdir icc && cd icc && mkdir -p img && "$python" ../files/t2_icc.py) >/dev/null 2>&1

echo "=== masks: fax TIFFs, soft edges, run lengths as lists, polygons"
printf 'id,image,mask\nref,ref.png,ref.png\ng3,ref.png,g3.tif\ng4,ref.png,g4.tif\n' >masks/t.csv
try table --in masks/t.csv --out masks/o.csv
cut -d, -f1,3- masks/o.csv | cut -c1-80
(mkdir rle && cd rle && cp ../masks/ref.png a.png && "$python" ../files/t8_mk.py) >/dev/null 2>&1
for name in cjsonlist.csv list.parquet cpoly.csv poly.parquet; do
  try table --in rle/$name --head 1
done

echo "=== tall: an image of 1 × 3,000,000 pixels"
"$python" tall/mk.py 3000000 tall/t.png && printf 'id,image\nt,t.png\n' >tall/t.csv
try embed --model archipelago-vit --in tall/t.csv --out tall/o.csv --skip-bad

echo "=== adapter: weights that change at the same size"
for name in a b c; do cp masks/ref.png adapter/$name.png && printf $name >>adapter/$name.png; done
(cd adapter && chmod +x adf.py && AP=$antipode bash adf.sh 2>&1 | grep -vE 'ANTIPODE_PLUGIN|GOEXPERIMENT|cp:' | cut -c1-200)

echo "=== merge: two stores that differ"
(cd merge && chmod +x ad.py && cp ../adapter/t.csv ../adapter/a.png . && AP=$antipode bash strict.sh 2>&1 |
  grep -vE 'ANTIPODE_PLUGIN|GOEXPERIMENT' | cut -c1-300)
