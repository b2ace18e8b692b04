// Package tui draws captures: as lines of text for those who print, and as the inspector, which has the whole screen.
//
// What it promises:
//
//   - Bytes from the wire are shown and never sent: every text passes through one place that spells out what a terminal
//     would act on, and escape sequences are made in one other place.
//   - It reads what is seen. A list of a million exchanges and a stream of a million events cost what their rows on the
//     screen cost.
//   - Nothing that arrives moves the cursor, unless the user asked to follow.
//   - Colour never carries a meaning alone.
//
// The inspector is a stack of panels. A panel is a plain struct with three methods that matter: resize, update, which
// takes a key as an action or what was loaded and returns what is to be done outside, and view, which draws the panel as
// it is. All reading of the capture happens in commands, the methods of loader; what they find comes back as a message
// that carries the ticket of its question, so that an answer that is out of date is known as such. The rules run in such
// commands too, a moment at a time, from the beginning of the capture to its end, and then along with the recording.
//
// # Caveats
//
// Keys that are struck faster than they are read come from the terminal library as one key of several characters. Its
// package asks the terminal for its background when it is initialised, unless package terminal was there first.
package tui
