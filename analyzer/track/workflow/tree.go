package workflow

// A Branch is an exchange in a tree of causes and effects.
type Branch struct {
	Link         // its Parent is 0 if the tree lacks the cause
	Depth int    // 0 without a Parent
	Stem  string // lines before it, for a drawing as text
}

// Tree arranges links as a tree, line by line: each exchange is followed by its effects, which keep their order.
func Tree(list []Link) (tree []Branch) {
	listed := make(map[uint64]bool, len(list))
	for _, l := range list {
		listed[l.Exchange] = true
	}
	under := make(map[uint64][]Link)
	for _, l := range list {
		if !listed[l.Parent] {
			l.Parent = 0
		}
		under[l.Parent] = append(under[l.Parent], l)
	}
	var grow func(l Link, depth int, stem, below string)
	grow = func(l Link, depth int, stem, below string) {
		tree = append(tree, Branch{l, depth, stem})
		children := under[l.Exchange]
		for i, child := range children {
			fork, bar := "├─ ", "│  "
			if i == len(children)-1 {
				fork, bar = "└─ ", "   "
			}
			grow(child, depth+1, below+fork, below+bar)
		}
	}
	for _, l := range under[0] {
		grow(l, 0, "", "")
	}
	return tree
}
