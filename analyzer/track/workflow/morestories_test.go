package workflow_test

var moreStories = []story{
	{
		"a notification hangs under the call that made its task", `
		1 user>planner send
		2 planner>hotel send push=http://planner-hook:9000/hook
		2 answer task=h state=working
		3 hotel>planner-hook hook task=h
		3 answer
		1 answer task=p`, `
		1
		2 under 1 of 1 ~ made while answering
		3 under 2 of 1 = notification of its task`,
	},
	{
		"work goes on after the answer", `
		1 user>planner send at=0s
		1 answer task=p state=working
		2 planner>hotel send at=1s
		2 answer task=h
		3 user>planner get task=p at=2s
		3 answer task=p
		4 planner>hotel send at=3s
		4 answer task=i`, `
		1
		2 under 1 of 1 ~ made while working on it
		3 under 1 of 1 = same task
		4`,
	},
	{
		"two tasks that are worked on: nothing is guessed", `
		1 user>planner send
		1 answer task=p state=working
		2 user>planner send
		3 planner>hotel send
		3 answer task=h
		2 answer task=q`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"a loop", `
		1 user>planner send
		2 planner>hotel send
		3 hotel>planner send
		4 planner>car send
		4 answer task=c
		3 answer task=q
		2 answer task=h
		1 answer task=p`, `
		1
		2 under 1 of 1 ~ made while answering
		3 under 2 of 1 ~ made while answering
		4 caused by 1 or 3: at the same time, without a common trace`,
	},
	{
		"a loop in a trace", `
		1 user>planner send trace=a/1
		2 planner>hotel send trace=a/2
		3 hotel>planner send trace=a/3
		4 planner>car send trace=a/4
		4 answer task=c
		3 answer task=q
		2 answer task=h
		1 answer task=p`, `
		1
		2 under 1 of 1 = same trace
		3 under 2 of 1 = same trace
		4 under 1 of 1 ~ same trace`,
	},
	{
		"an agent that acts by itself", `
		1 user>planner send
		1 answer task=p
		2 planner>hotel send
		2 answer task=h`, `
		1
		2`,
	},
	{
		"text that is handed on by a client of another name", `
		1 user>planner send text=a_room_in_Kyoto_please
		2 python>hotel send text=a_room_in_Kyoto_please
		2 answer task=h
		1 answer task=p
		3 python>hotel send text=a_room_in_Kyoto_please
		3 answer task=i`, `
		1
		2 under 1 of 1 ~ same content
		3`,
	},
	{
		"short texts, and one client that asks two agents the same, say nothing", `
		1 user>planner send text=hello
		2 python>hotel send text=hello
		3 user>car send text=a_room_in_Kyoto_please
		4 user>hotel send text=a_room_in_Kyoto_please
		2 answer task=h
		1 answer task=p
		3 answer task=c
		4 answer task=i`, `
		1
		2
		3
		4`,
	},
	{
		"something went unrecorded: no inference from what was open then", `
		1 user>planner send trace=a/1
		0 lost
		2 planner>hotel send
		3 planner>hotel send trace=a/2
		2 answer task=h
		3 answer task=i
		1 answer task=p
		4 user>planner send
		5 planner>hotel send
		5 answer task=j
		4 answer task=q`, `
		1
		2
		3 under 1 of 1 = same trace
		4
		5 under 4 of 4 ~ made while answering`,
	},
	{
		"a recorder that was killed, and its successor", `
		1 user>planner send
		2 planner>hotel send
		2 answer task=h state=working
		1 killed
		3 planner>hotel get task=h
		3 answer task=h
		4 planner>hotel send
		4 answer task=i`, `
		1
		2 under 1 of 1 ~ made while answering
		3 under 2 of 1 = same task
		4`,
	},
	{
		"an agent that cannot be reached", `
		1 user>planner send
		2 planner>hotel send
		2 fault
		3 planner>flight send
		3 answer task=f
		1 answer task=p`, `
		1
		2 under 1 of 1 ~ made while answering
		3 under 1 of 1 ~ made while answering`,
	},
	{
		"a client with one traceparent for everything", `
		1 user>planner send trace=a/1
		1 answer task=p
		2 user>planner send trace=a/1
		2 answer task=q
		3 user>hotel send trace=a/1
		4 user>planner send trace=a/1
		4 answer task=r
		3 answer task=h`, `
		1
		2
		3
		4`,
	},
	{
		"a traceparent that is passed on as it is", `
		1 user>planner send trace=a/1
		2 planner>hotel send trace=a/1
		2 answer task=h
		1 answer task=p`, `
		1
		2 under 1 of 1 = same trace`,
	},
	{
		"one trace of two calls in a row", `
		1 user>planner send trace=a/1
		1 answer task=p
		2 user>hotel send trace=a/2
		2 answer task=h`, `
		1
		2 under 1 of 1 ~ same trace`,
	},
	{
		"a traceparent that is none", `
		1 user>planner send trace=00-00000000000000000000000000000000-1111111111111111-01
		1 answer task=p
		2 user>hotel send trace=00-00000000000000000000000000000000-2222222222222222-01
		2 answer task=h
		3 user>hotel send trace=00-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA-1111111111111111-01
		3 answer task=i
		4 user>hotel send trace=00-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA-2222222222222222-01
		4 answer task=j`, `
		1
		2
		3
		4`,
	},
	{
		"a card that either of two clients of one name has fetched", `
		1 python>planner card
		1 answer
		2 python>planner card
		2 answer
		3 python>planner send
		3 answer task=p`, `
		1
		2
		3`,
	},
	{
		"a card fetched by the only client of a name, and in a trace", `
		1 python>planner card
		1 answer
		2 python>planner send
		2 answer task=p
		3 python>planner card trace=a/1
		3 answer
		4 python>planner send trace=a/2
		4 answer task=q`, `
		1 under 2 of 2 ~ card of that agent
		2
		3 under 4 of 4 = same trace
		4`,
	},
	{
		"a stream", `
		1 user>planner send
		1 event k=1 first=yes task=p state=working context=c1
		2 planner>hotel send context=c1
		2 answer task=h
		1 event k=2 task=p context=c1 end
		3 planner>hotel send
		3 answer task=i`, `
		1
		2 under 1 of 1 = same context
		3`,
	},
}
