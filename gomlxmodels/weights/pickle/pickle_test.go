package pickle

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/internal/must"
)

// Parts of pickles, written by hand.

func unicode(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func name(module, member string) string { return "c" + module + "\n" + member + "\n" }

func long8(n int64) string {
	return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

// storageOf is storage 0 of that many float32.
func storageOf(numel int64) string {
	return "(" + unicode("storage") + name("torch", "FloatStorage") + unicode("0") + unicode("cpu") + long8(numel) +
		"tQ"
}

func dimsOf(list ...int64) string {
	out := "("
	for _, n := range list {
		out += long8(n)
	}
	return out + "t"
}

func tensorOf(storage string, offset int64, shape, stride string) string {
	return name("torch._utils", "_rebuild_tensor_v2") + "(" + storage + long8(offset) + shape + stride + "\x89" +
		name("collections", "OrderedDict") + ")RtR"
}

func dictOf(items ...string) string { return "\x80\x02}(" + strings.Join(items, "") + "u." }

func TestParse(t *testing.T) {
	storage := &Storage{Key: "0", DType: "F32", Item: 4, Numel: 6, Length: 6}
	good := tensorOf(storageOf(6), 1, dimsOf(2, 2), dimsOf(1, 2))
	tensor := &Tensor{Storage: storage, DType: "F32", Item: 4, Shape: []int{2, 2}, Stride: []int{1, 2}, Offset: 1}
	list := &List{Items: []Value{Int(-5), Int(200), Int(40000), Float(0.5), Bool(true), Bool(false), None{}}}
	view := "(" + unicode("storage") + name("torch", "HalfStorage") + unicode("7") + unicode("cuda:0") + "K\x09(" +
		unicode("8") + "K\x04K\x03ttQ"
	for what, c := range map[string]struct {
		in   string
		want Value
	}{
		"scalars":  {"](J\xfb\xff\xff\xffK\xc8M\x40\x9cG\x3f\xe0\x00\x00\x00\x00\x00\x00\x88\x89Ne.", list},
		"append":   {"]K\x01a.", &List{Items: []Value{Int(1)}}},
		"long":     {"\x8a\x02\x00\xff\x8b\x01\x00\x00\x00\x07\x86.", Tuple{Int(-256), Int(7)}},
		"no bytes": {"\x8a\x00.", Int(0)},
		"magic":    {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", &Opaque{Global: "builtins.int"}},
		"strings": {"(T\x01\x00\x00\x00aU\x01b\x8c\x01c\x8d\x01\x00\x00\x00\x00\x00\x00\x00dt.",
			Tuple{String("a"), String("b"), String("c"), String("d")}},
		"bytes": {"B\x01\x00\x00\x00aC\x01b\x8e\x01\x00\x00\x00\x00\x00\x00\x00c\x87.",
			Tuple{Bytes("a"), Bytes("b"), Bytes("c")}},
		"array": {"\x96\x01\x00\x00\x00\x00\x00\x00\x00a.", Bytes("a")},
		"memo":  {"K\x01q\x03h\x03r\x04\x00\x01\x00j\x04\x00\x01\x00\x94h\x02\x87.", Tuple{Int(1), Int(1), Int(1)}},
		"pop":   {"K\x01(K\x02K\x030010K\x04.", Int(4)},
		"sets": {"(\x8f(K\x01\x90(K\x02\x91t.", Tuple{&Opaque{Global: "builtins.set"},
			&Opaque{Global: "builtins.frozenset"}}},
		"dict": {"}K\x01K\x02s.", &Dict{Items: []Item{{Int(1), Int(2)}}}},
		"key of a class": {"}" + name("a", "B") + "K\x02s" + unicode("k") + "K\x03s.",
			&Dict{Items: []Item{{String("k"), Int(3)}}}},
		"ordered dict of pairs": {name("collections", "OrderedDict") + "]](K\x01K\x02ea\x85R.",
			&Dict{Items: []Item{{Int(1), Int(2)}}}},
		"ordered dict with state": {name("collections", "OrderedDict") + ")RK\x01K\x02s}" + unicode("_metadata") +
			"Nsb.", &Dict{Items: []Item{{Int(1), Int(2)}}}},
		"defaultdict": {name("collections", "defaultdict") + name("builtins", "int") + "\x85RK\x01K\x02s.",
			&Dict{Items: []Item{{Int(1), Int(2)}}}},
		"size":          {name("torch", "Size") + dimsOf(3) + "\x85R.", Tuple{Int(3)}},
		"dtype":         {name("torch", "float16") + ".", &Opaque{Global: "torch.float16", callable: true}},
		"tensor":        {good + ".", tensor},
		"state dropped": {good + "}b.", tensor},
		"protocol 4": {"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x01a\x8c\x01B\x93)}\x92.",
			&Opaque{Global: "a.B"}},
		"parameter": {name("torch._utils", "_rebuild_parameter") + good + "\x88N\x87R.", tensor},
		"typed": {name("torch._tensor", "_rebuild_from_type_v2") + "(" + name("torch._utils", "_rebuild_tensor_v2") +
			name("torch.nn.parameter", "Buffer") + "(" + storageOf(6) + "K\x01" + dimsOf(2, 2) + dimsOf(1, 2) +
			"\x89Nt}tR.", tensor},
		"typed otherwise": {name("torch._tensor", "_rebuild_from_type_v2") + "(" + name("os", "system") +
			name("my", "Tensor") + ")}tR.", &Opaque{Global: "torch._tensor._rebuild_from_type_v2"}},
		"sparse": {name("torch._utils", "_rebuild_sparse_tensor") + ")R.", &Tensor{Unreadable: "it is sparse"}},
		"complex": {strings.Replace(good, "FloatStorage", "ComplexFloatStorage", 1) + ".",
			&Tensor{Unreadable: "its dtype is complex64"}},
		"empty": {tensorOf(storageOf(0), 3, dimsOf(1<<40, 0, 1<<40), dimsOf(1, 1, 1)) + ".",
			&Tensor{Storage: &Storage{Key: "0", DType: "F32", Item: 4}, DType: "F32", Item: 4,
				Shape: []int{1 << 40, 0, 1 << 40}, Stride: []int{1, 1, 1}}},
		"view": {tensorOf(view, 2, ")", ")") + ".", &Tensor{DType: "F16", Item: 2, Shape: []int{}, Stride: []int{},
			Offset: 6, Storage: &Storage{Key: "7", DType: "F16", Item: 2, Numel: 9, Offset: 4, Length: 3}}},
		"third": {name("torch._utils", "_rebuild_tensor_v3") + "((" + unicode("storage") +
			name("torch.storage", "UntypedStorage") + unicode("0") + unicode("cpu") + "K\x06tQ" + "K\x01" + dimsOf(2) +
			dimsOf(1) + "\x89N" + name("torch", "uint16") + "tR.", &Tensor{DType: "U16", Item: 2, Shape: []int{2},
			Stride: []int{1}, Offset: 1, Storage: &Storage{Key: "0", DType: "U8", Item: 1, Numel: 6, Length: 6}}},
		"third of another dtype": {name("torch._utils", "_rebuild_tensor_v3") + "(" + storageOf(6) + "K\x00" +
			dimsOf(2) + dimsOf(1) + "\x89N" + name("torch", "float8_e8m0fnu") + "tR.",
			&Tensor{Unreadable: "its dtype is torch.float8_e8m0fnu"}},
		"whole module": {"(" + unicode("module") + name("models", "Net") + "NNtQ)\x81}b.",
			&Opaque{Global: "models.Net"}},
		"other persistent object": {"(" + unicode("x") + "tQ.", &Opaque{Global: "a persistent object"}},
	} {
		got, err := Parse([]byte(c.in), Limits{})
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, %v, want %#v", what, got, err, c.want)
		}
	}
}

// hostile are pickles that must be refused, with a part of the error, or read without a tensor ("").
func hostile() map[string][2]string {
	call := func(module, member, op string) string {
		return name(module, member) + unicode("touch x") + "\x85" + op + "."
	}
	tensor := func(numel, offset int64, shape, stride string) string {
		return dictOf(unicode("w"), tensorOf(storageOf(numel), offset, shape, stride))
	}
	sparse := []byte("N")
	for i := range uint32(400_000) {
		sparse = binary.LittleEndian.AppendUint32(append(sparse, 'r'), 1<<20+i)
	}
	return map[string][2]string{
		"system":               {call("os", "system", "R"), ""},
		"eval":                 {call("builtins", "eval", "R"), ""},
		"NEWOBJ":               {call("os", "system", "\x81"), ""},
		"BUILD":                {name("os", "system") + ")\x81" + unicode("touch x") + "b.", ""},
		"items of a call":      {name("os", "system") + ")R(NNe(NNu(N\x90Nb.", ""},
		"self-containing list": {"]q\x00h\x00a.", ""},
		"self-containing dict": {"}q\x00K\x01h\x00s.", ""},
		"nested tuples":        {")" + strings.Repeat("\x85", 100_000) + ".", ""},
		"nested marks":         {strings.Repeat("(", 100_000) + ".", "more than 10000 marks"},
		"doubling tuples":      {")" + strings.Repeat("2\x86", 60) + ".", ""},
		"frame":                {"\x95\x00\x00\x00\x00\x00\x01\x00\x00N.", "1099511627776 bytes, of which 2 remain"},
		"text of 4 GiB":        {"X\xff\xff\xff\xffx.", "4294967295 bytes, of which 2 remain"},
		"bytes of 2^63":        {"\x8e\xff\xff\xff\xff\xff\xff\xff\xff", "of which 0 remain"},
		"text of 2 MiB":        {unicode(strings.Repeat("x", 2<<20)) + ".", "more than 1048576"},
		"LONG4 of 2^31":        {"\x8b\xff\xff\xff\x7f.", "of which 1 remain"},
		"LONG1 of 17":          {"\x8a\x11" + strings.Repeat("x", 17) + ".", "an integer of 17 bytes"},
		"memo":                 {"Nr\xff\xff\xff\xff.", ""},
		"large memo":           {"N" + strings.Repeat("\x94", 1_000_001), "more than 1000000 entries in the memo"},
		"sparse memo":          {string(sparse), "more than 65536 entries in the memo"},
		"no memo":              {"h\x01.", "the memo has no entry 1"},
		"DUP":                  {"N" + strings.Repeat("2", 1<<20) + ".", "more than 1000000 values on the stack"},
		"many lists":           {strings.Repeat("]0", 2<<20) + ".", "bytes of memory"},
		"many empty tuples": {strings.Repeat("("+strings.Repeat(")", 1000)+"1", 4001) + ".",
			"more than 4000000 values"},
		"MARK":              {"(.", "the stack has too few values"},
		"SETITEMS":          {"}(Nu.", "a key has no value"},
		"SETITEM":           {"}Ns.", "the stack has too few values"},
		"TUPLE3":            {"NN\x87.", "the stack has too few values"},
		"TUPLE over a mark": {"NN(\x86.", "the stack has too few values"},
		"STOP":              {".", "the stack has too few values"},
		"no mark":           {"t.", "no mark is on the stack"},
		"nothing":           {"", "the pickle is cut short"},
		"no end":            {"\x80\x02N", "the pickle is cut short"},
		"more":              {"N.N.", "2 bytes follow its end"},
		"protocol":          {"\x80\x06N.", "protocol 6"},
		"unknown opcode":    {"N\xff.", "opcode 0xff at byte 1 is not one"},
		"refused opcode":    {"\x80\x02N\x97.", "opcode 0x97 (NEXT_BUFFER) at byte 3 is not read"},
		"text opcode":       {"I1\n.", "opcode 0x49 (INT) at byte 0 is not read"},
		"name without end":  {"cos", "a name has no end"},
		"long name":         {"c" + strings.Repeat("x", 5000) + "\ny\n.", "a name has no end"},
		"number as a name":  {"K\x01K\x02\x93.", "are not the names"},
		"list as a key":     {"}]Ns.", "a list is a key"},
		"call of a result":  {name("os", "system") + ")R)R.", "is not a class or a function"},
		"call of a number":  {"N)R.", "None is not a class or a function"},
		"arguments":         {name("os", "system") + "}R.", "a dict is not a tuple of arguments"},
		"state of a number": {"NNb.", "None has no state"},
		"append to a dict":  {"}Na.", "appends to a dict"},
		"items of a list":   {"]NNs.", "sets items of a list"},
		"add to a list":     {"](N\x90.", "adds to a list"},
		"not pairs":         {name("collections", "OrderedDict") + "]Na\x85R.", "not of pairs"},
		"shape": {tensor(6, 0, dimsOf(1<<40, 1<<40), dimsOf(1<<40, 1)),
			"not within the storage of 6 elements"},
		"negative shape":  {tensor(6, 0, dimsOf(-1), dimsOf(1)), "the shape: axis 0 is -1"},
		"negative stride": {tensor(6, 5, dimsOf(2), dimsOf(-1)), "the strides: axis 0 is -1"},
		"offset": {tensor(6, math.MaxInt64, dimsOf(1), dimsOf(1)),
			"offset 9223372036854775807 is not within"},
		"negative offset":   {tensor(6, -1, dimsOf(1), dimsOf(1)), "offset -1 is not within"},
		"stride":            {tensor(6, 1, dimsOf(3), dimsOf(math.MaxInt64)), "not within the storage"},
		"rank":              {tensor(6, 0, dimsOf(1, 1, 1, 1, 1, 1, 1, 1, 1), ")"), "rank 9"},
		"ranks":             {tensor(6, 0, dimsOf(1, 1), dimsOf(1)), "shape [1 1] and strides [1]"},
		"storage":           {tensor(-1, 0, ")", ")"), `storage "0" has -1 elements`},
		"large storage":     {tensor(1<<62, 0, ")", ")"), `storage "0" has 4611686018427387904 elements`},
		"scalar of nothing": {tensor(0, 0, ")", ")"), "offset 0 is not within the storage of 0 elements"},
		"opaque storage": {dictOf(unicode("w"), tensorOf(name("os", "system"), 0, ")", ")")),
			`the storage is "os.system"`},
		"class of storage": {"(" + unicode("storage") + name("os", "system") +
			unicode("0") + unicode("cpu") + "K\x01tQ.",
			`"os.system" is not a class of storages`},
		"parts of a storage": {"(" + unicode("storage") + "tQ.", "has 1 parts"},
		"name of a storage":  {"NQ.", "None is not the name of a storage"},
		"view": {"(" + unicode("storage") + name("torch", "FloatStorage") + unicode("0") + unicode("cpu") + "K\x03(" +
			unicode("1") + "K\x02K\x02ttQ.", `a view of storage "0" is not within its 3 elements`},
		"list as a dim": {tensor(6, 0, "]q\x00h\x00a\x85", dimsOf(1)), "the shape: axis 0 is a list"},
	}
}

func TestHostile(t *testing.T) {
	for what, c := range hostile() {
		v, err := inTime(t, what, []byte(c[0]))
		if c[1] != "" {
			must.Err(t, err, c[1])
		} else if n := len(tensorsIn(v)); err != nil || n > 0 {
			t.Errorf("%s: %d tensors, error %v", what, n, err)
		}
	}
}

// inTime parses in little memory and half a second: 100 ms, and what other processes take.
func inTime(t *testing.T, what string, data []byte) (v Value, err error) {
	t.Helper()
	var took time.Duration
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		v, err = Parse(data, Limits{})
		took = time.Since(start)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > uint64(2*len(data))+64<<20 {
			t.Errorf("%s: allocated %d KiB", what, grown>>10)
		}
		if took <= 500*time.Millisecond {
			t.Logf("%s: %v", what, took)
			return v, err
		}
	}
	t.Errorf("%s took %v", what, took)
	return v, err
}

// TestLimits reaches each limit from both sides.
func TestLimits(t *testing.T) {
	tensor := tensorOf(storageOf(1), 0, ")", ")")
	for want, c := range map[string]struct {
		at, over string
		limits   Limits
	}{
		"more than 2":               {"N.", "NN.", Limits{Data: 2}},
		"3 bytes, more than 2":      {"U\x02ab.", "U\x03abc.", Limits{Text: 2}},
		"1 entries in the memo":     {"N\x94q\x00.", "N\x94q\x01.", Limits{Memo: 1}},
		"2 values on the stack":     {"NN.", "NNN.", Limits{Stack: 2}},
		"1 marks":                   {"(t.", "((tt.", Limits{Marks: 1}},
		"1 tensors":                 {tensor + ".", tensor + tensor + "\x86.", Limits{Tensors: 1}},
		"2 values":                  {"NN.", "NNN.", Limits{Nodes: 2}},
		"17000 bytes of memory":     {"U\x05abcde.", unicode(strings.Repeat("x", 1000)) + ".", Limits{Memory: 17000}},
		"more than 16400 bytes of ": {"K\x01.", "]K\x01a.", Limits{Memory: 16400}},
	} {
		if _, err := Parse([]byte(c.at), c.limits); err != nil {
			t.Errorf("%s: at the limit: %v", want, err)
		}
		must.Fail(Parse([]byte(c.over), c.limits))(t, want)
	}
}

// tensorsIn walks a value, each part once.
func tensorsIn(v Value) (found []*Tensor) {
	seen := map[Value]bool{}
	tuples := map[*Value]bool{}
	for todo := []Value{v}; len(todo) > 0; {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch v := v.(type) {
		case Tuple:
			if len(v) == 0 || tuples[&v[0]] {
				continue
			}
			tuples[&v[0]] = true
			todo = append(todo, v...)
		case *List:
			if !seen[v] {
				todo = append(todo, v.Items...)
			}
			seen[v] = true
		case *Dict:
			if !seen[v] {
				for _, item := range v.Items {
					todo = append(todo, item.Key, item.Value)
				}
			}
			seen[v] = true
		case *Tensor:
			if !seen[v] {
				found = append(found, v)
			}
			seen[v] = true
		}
	}
	return found
}

// within checks a tensor's range, without the arithmetic of place.
func within(x *Tensor) error {
	if x.Unreadable != "" || slices.Contains(x.Shape, 0) { // a tensor without elements reads nothing
		return nil
	}
	last := uint64(x.Offset)
	for i, d := range x.Shape {
		high, low := bits.Mul64(uint64(d-1), uint64(x.Stride[i]))
		if high != 0 || last+low < last {
			return fmt.Errorf("overflow: %+v", x)
		}
		last += low
	}
	s := x.Storage
	end := uint64(s.Offset+s.Length) * uint64(s.Item)
	if start := uint64(x.Offset) * uint64(x.Item); start < uint64(s.Offset*s.Item) || (last+1)*uint64(x.Item) > end ||
		s.Offset+s.Length > s.Numel {
		return fmt.Errorf("not within its storage: %+v of %+v", x, s)
	}
	return nil
}

func FuzzPickle(f *testing.F) {
	for _, c := range hostile() {
		if len(c[0]) < 1000 {
			f.Add([]byte(c[0]))
		}
	}
	f.Add([]byte(dictOf(unicode("w"), tensorOf(storageOf(6), 1, dimsOf(2, 2), dimsOf(1, 2)))))
	for _, b := range written(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data, Limits{})
		if err != nil {
			must.Err(t, err)
			return
		}
		for _, x := range tensorsIn(v) {
			must.Do(t, within(x))
		}
	})
}
