// Package stdio records tools that are child processes: programs that speak newline-delimited JSON-RPC on their standard
// input and output, such as MCP servers.
//
// On the tool's side, [Pass] passes bytes in one direction, and a [Feed] sends copies of them to a recorder over a
// local socket. The feed has a bounded buffer and never makes the traffic wait. [Find] finds the socket
// of a recorder: a variable names it, or the recorder started one of the processes above the tool.
//
// On the recorder's side, [Listen] opens the socket in the user's runtime folder, and [Record] turns the copies into
// exchanges, which look as if the same messages had passed over MCP's Streamable HTTP:
//
//   - A request is a POST with the message as its body. The response with the same id is the answer, with status 200.
//     Notifications and responses of the client are POSTs with the answer 202.
//   - Requests and notifications of the server, and its responses to no known request, are events of one GET, which is
//     open from the first of them to the end.
//   - Lines that are not JSON-RPC are the body of an exchange with a fault, which quotes the first one. Adjacent lines
//     share an exchange.
//
// A player has such a socket, too, and answers instead of the tool: [Ask] asks it for that, and [Greet] is its side.
//
// The package makes the heads of these messages: only the bodies passed as they are recorded, without line ends.
package stdio
