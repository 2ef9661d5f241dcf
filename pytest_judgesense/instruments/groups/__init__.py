"""Who is treated otherwise: every gated measure by groups of items, on suites of any kind."""
