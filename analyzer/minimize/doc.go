// Package minimize finds the smallest part of a capture that still shows a finding, for a bug report that others can
// understand.
//
// Run removes exchanges, then events, header fields, lines and members of bodies, and shortens long texts, while the
// same side still breaks the same rule, with the same agent, in the same operation, at the same kind of place and in
// the same way. In the result, none of these can be removed individually.
//
// # What it promises
//
// What stays is as it was. Each exchange that is left asks for the same operation in the same binding and dialect as
// before, so nothing is cut off that decides how the rest is read. The finding is in the exchange in which it was, and
// nothing is broken that was not broken before: a cut that brings a finding in an exchange, at a kind of place where it
// had none, is not made. Ids and names are those of the capture, unless they are to be made neutral. The same capture
// gives the same result, unless the time runs out.
//
// # What will surprise you
//
//   - Exchanges keep their numbers: what was 12 in the capture is 12 in the result. Events are renumbered.
//   - Reports of losses are left out. A finding that depends on them cannot be reproduced, and Run returns an error.
//   - Times are left as they were recorded, unless the order of everything is the same without them.
//   - The capture is held in memory.
package minimize
