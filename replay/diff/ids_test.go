package diff_test

import (
	"regexp"

	"a2atap/proxy/capture"
)

// uuids are ids that are long enough to be nothing else.
var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func idsOf(x *capture.Exchange) (ids []string) {
	edit(x, func(b []byte) []byte {
		ids = append(ids, uuids.FindAllString(string(b), -1)...)
		return b
	})
	return ids
}
