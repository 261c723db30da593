package weights

// Table is a table of rules under construction. Names of layers come without ".weight" and ".bias", their
// variables' scopes without the variable (package nn).
type Table []Rule

// As is a tensor with its variable, of the shape as where that is not nil.
func (t *Table) As(from, to string, as []int, shape ...int) {
	*t = append(*t, Rule{Tensor: from, Variable: to, Shape: shape, As: as})
}

// Skip adds tensors that may exist and are not loaded.
func (t *Table) Skip(names ...string) {
	for _, n := range names {
		*t = append(*t, Rule{Tensor: n})
	}
}

// SkipOthers skips all tensors of a set that the table does not name yet, where only part of a checkpoint is read.
func (t *Table) SkipOthers(set *Set) {
	known := map[string]bool{}
	for _, r := range *t {
		known[r.Tensor] = true
	}
	for _, name := range set.Names() {
		if !known[name] {
			t.Skip(name)
		}
	}
}

// Dense is a dense layer with a bias.
func (t *Table) Dense(from, to string, out, in int) {
	t.As(from+".weight", to+"/weights", nil, out, in)
	t.As(from+".bias", to+"/bias", nil, out)
}

// Fused is dense layers whose weights are concatenated in one variable: queries, keys and values.
func (t *Table) Fused(from []string, to string, out, in int, bias bool) {
	for part, name := range from {
		*t = append(*t, Rule{Tensor: name + ".weight", Variable: to + "/weights", Shape: []int{out, in}, Part: part,
			Parts: len(from)})
		if bias {
			*t = append(*t, Rule{Tensor: name + ".bias", Variable: to + "/bias", Shape: []int{out}, Part: part,
				Parts: len(from)})
		}
	}
}

// Norm is a layer norm.
func (t *Table) Norm(from, to string, width int) {
	t.As(from+".weight", to+"/gain", nil, width)
	t.As(from+".bias", to+"/offset", nil, width)
}

// Unload keeps the names and shapes of rules, and loads nothing by them.
func Unload(rules []Rule) {
	for i, r := range rules {
		rules[i] = Rule{Tensor: r.Tensor, Shape: r.Shape}
	}
}
