package playback

import (
	"fmt"

	"a2atap/replay/compare"
)

// Differences returns how the calls of a program differ from the recorded ones: for each explained miss a difference of
// kind new, and for each recorded call that was never requested one of kind missing.
func (r *Report) Differences() (list []compare.Difference) {
	for _, m := range r.Misses {
		list = append(list, compare.Difference{
			Side: compare.Client, Kind: compare.NewExchange, Exchange: m.Nearest, Got: m.Operation, Message: "not as recorded: " + m.String(),
		})
	}
	for _, u := range r.Unused {
		list = append(list, compare.Difference{
			Side: compare.Client, Kind: compare.MissingExchange, Exchange: u.Exchange, Place: fmt.Sprintf("%d.request", u.Exchange),
			Want: u.Operation, Message: u.Operation + " was not requested",
		})
	}
	return list
}
