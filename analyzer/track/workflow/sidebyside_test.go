package workflow_test

// sideBySide are stories as programs write them that work for several users at once, with one pool of connections and
// with agents that notify before they answer.
var sideBySide = []story{
	{
		"a card belongs to the call that follows", `
		1 user>planner send
		2 python>hotel card conn=3
		2 answer
		3 python>hotel send conn=3
		3 answer task=h
		1 answer task=p`, `
		1
		2 under 3 of 3 ~ card of that agent
		3`,
	},
	{
		"a card that was looked for at two addresses", `
		1 python>hotel card conn=3 path=agent.json
		1 answer
		2 python>hotel card conn=3
		2 answer
		3 python>hotel send conn=3
		3 answer task=h`, `
		1 under 3 of 3 ~ card of that agent
		2 under 3 of 3 ~ card of that agent
		3`,
	},
	{
		"a pool of connections says nothing of whose card it was", `
		1 user>planner send
		2 user>planner send
		3 planner>hotel card conn=3
		4 planner>hotel card conn=4
		3 answer
		4 answer
		5 planner>hotel send conn=4
		6 planner>hotel send conn=3
		5 answer task=h
		6 answer task=i
		1 answer task=p
		2 answer task=q`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace
		4 caused by 1 or 2: at the same time, without a common trace
		5 caused by 1 or 2: at the same time, without a common trace
		6 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"a card that is read while something else is asked", `
		1 python>hotel send conn=3
		2 python>hotel card conn=4
		2 answer
		3 python>hotel send conn=4
		3 answer task=i
		1 answer task=h`, `
		1
		2
		3`,
	},
	{
		"who asks for a task has not read the card for that", `
		1 python>hotel send conn=3
		1 answer task=h state=working
		2 python>hotel card conn=4
		2 answer
		3 python>hotel get task=h conn=4
		3 answer task=h
		4 python>hotel send conn=3
		4 answer task=i`, `
		1
		2 under 4 of 4 ~ card of that agent
		3 under 1 of 1 = same task
		4`,
	},
	{
		"a card in one trace is not for a call in another one", `
		1 planner>hotel card trace=a/1
		1 answer
		2 planner>hotel send trace=b/1
		2 answer task=h
		3 planner>hotel send trace=a/2
		3 answer task=i`, `
		1 under 3 of 3 = same trace
		2
		3`,
	},
	{
		"notifications that come before the answer", `
		1 user>planner send
		2 user>planner send
		3 planner>hotel send push=http://planner:9000/hook
		4 planner>hotel send push=http://planner:9000/hook
		5 hotel>planner hook task=h
		5 answer
		6 hotel>planner hook task=i
		6 answer
		4 answer task=i state=working
		3 answer task=h state=working
		7 hotel>planner hook task=h
		7 answer
		8 planner>hotel get task=h
		8 answer task=h
		2 answer task=q
		1 answer task=p`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace
		4 caused by 1 or 2: at the same time, without a common trace
		5 under 3 of 3 = notification of its task
		6 under 4 of 4 = notification of its task
		7 under 3 of 3 = notification of its task
		8 under 3 of 3 = same task`,
	},
	{
		"a context that an agent hands on under two names", `
		1 user>planner send
		2 planner>hotel send context=c
		3 python>flight send context=c
		3 answer task=f context=c
		2 answer task=h context=c
		1 answer task=p context=c`, `
		1
		2 under 1 of 1 = same context
		3 under 1 of 1 ~ same context`,
	},
	{
		"a context that an agent hands on under two names, for one of two users", `
		1 user>planner send
		2 user>planner send
		3 planner>hotel send context=c
		4 python>flight send context=c
		4 answer task=f context=c
		3 answer task=h context=c
		1 answer task=p context=c
		2 answer task=q context=d`, `
		1
		2
		3 under 1 of 1 = same context
		4 under 1 of 1 ~ same context`,
	},
	{
		"a trace that an agent begins, under two names", `
		1 user>planner send
		2 planner>hotel send trace=a/1
		3 python>flight send trace=a/2
		3 answer task=f
		2 answer task=h
		1 answer task=p`, `
		1
		2 under 1 of 1 ~ made while answering
		3 under 1 of 1 ~ same trace`,
	},
	{
		"more than four side by side are counted", `
		1 user>planner send
		2 user>planner send
		3 user>planner send
		4 user>planner send
		5 user>planner send
		6 user>planner send
		7 planner>hotel send
		7 answer task=h
		1 answer task=p
		2 answer task=q`, `
		1
		2
		3
		4
		5
		6
		7 caused by 1, 2, 3, 4 or one of 2 more: at the same time, without a common trace`,
	},
	{
		"an id that one of two named is carried along", `
		1 user>planner send text=cancel_order/ORD-2026-0042
		2 user>planner send text=cancel_order/ORD-2026-0043
		3 planner>hotel send text=refund:ORD-2026-0043
		4 planner>hotel send text=refund:ORD-2026-0044
		5 planner>hotel send text=compare:ORD-2026-0042/ORD-2026-0043
		6 planner>hotel send text=on:2026-11-28T10
		3 answer task=h
		1 answer task=p
		2 answer task=q`, `
		1
		2
		3 under 2 of 2 ~ same id
		4 caused by 1 or 2: at the same time, without a common trace
		5 caused by 1 or 2: at the same time, without a common trace
		6 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"the id of a task that is worked on is carried along", `
		1 user>planner send
		2 user>planner send
		1 event k=1 first=y task=task-7f3a-1042 state=working
		2 event k=1 first=y task=task-7f3a-1043 state=working
		3 planner>hotel send text=for:task-7f3a-1042
		3 answer task=h`, `
		1
		2
		3 under 1 of 1 ~ same id`,
	},
	{
		"a text is carried along in another one, as whole words", `
		1 user>planner send text=a/trip/to/Rome
		2 user>planner send text=a/trip/to/Oslo
		3 planner>hotel send text=please:a/trip/to/Rome!
		4 planner>hotel send text=please:a/trip/to/Romero
		5 planner>hotel send text=both:a/trip/to/Rome,a/trip/to/Oslo
		3 answer task=h
		1 answer task=p
		2 answer task=q`, `
		1
		2
		3 under 1 of 1 ~ contains its text
		4 caused by 1 or 2: at the same time, without a common trace
		5 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"what is carried of one call is carried of another one, too", `
		1 user>planner send text=book/ORD-2026-0042
		2 user>planner send text=book/ORD-2026-0042/and/ORD-2026-0043
		3 planner>hotel send text=hold:ORD-2026-0042
		4 planner>hotel send text=hold:ORD-2026-0043,ORD-2026-0042
		3 answer task=h
		1 answer task=p
		2 answer task=q`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace
		4 under 2 of 2 ~ same id`,
	},
	{
		"text and id of different calls decide nothing", `
		1 user>planner send text=cancel/the/order
		2 user>planner send text=ORD-2026-0043
		3 planner>hotel send text=cancel/the/order:ORD-2026-0043
		3 answer task=h
		1 answer task=p
		2 answer task=q`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace`,
	},
}
