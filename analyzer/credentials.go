package analyzer

import (
	"slices"
	"strings"
)

// credentials returns what a request carries to say on whose behalf it comes: fields and parameters whose names speak of
// it. Where secrets were replaced, equal ones are still equal.
func (x *Exchange) credentials() []string {
	var found []string
	for _, f := range x.Request.Fields {
		if secretive(f.Name) {
			found = append(found, strings.ToLower(f.Name)+"="+f.Value)
		}
	}
	_, query, _ := strings.Cut(x.Request.Target, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(pair, "="); secretive(name) {
			found = append(found, pair)
		}
	}
	slices.Sort(found)
	return found
}

func secretive(name string) bool {
	name = strings.ToLower(name)
	for _, word := range [...]string{"auth", "cookie", "key", "secret", "token"} {
		if strings.Contains(name, word) && name != "pagetoken" {
			return true
		}
	}
	return false
}
