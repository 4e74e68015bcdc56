//! The texts in English.

use super::InstallWords;

pub(super) const INSTALL: InstallWords = InstallWords {
    tab: "Add Bitcoin ATMs to your assistant",
    about_data: "About the data",
    title: "Your assistant can find the nearest Bitcoin ATM",
    lead: "Give it this address once. No account, no key, no cost.",
    copy: "Copy",
    copied: "The address is copied.",
    privacy: "The server sees the place that you ask about, and asks for no name. Places are not kept.",
    privacy_with_geocoder: "The server sees the place that you ask about, and asks for no name. What it does not know, it \
                            looks up at another service.",
    no_address: "This server does not know its own address.",
    no_address_text: "Whoever runs it sets the address with --public-url. Then it stands here.",
    example: "An example",
    question: "Where can I sell bitcoin for cash near downtown Austin?",
    answer: "Two machines within 4 miles pay out cash:",
    first: ("Example Coin at Lakeside Laundry", ", 0.9 mi, open all day, checked 3 October 2026"),
    second: ("Example Coin at Hill Books", ", 3.2 mi, hours not known"),
    warning: "If somebody told you to pay at such a machine, stop and call someone you trust.",
    add_to: "Add it to",
    client: "Client",
    terminal: "Terminal",
    other: "Other",
    claude_steps: "Settings, Connectors, Add custom connector. Paste the address. Nothing to log in to.",
    chatgpt_steps: "Settings, Connectors, Developer mode, Create. Paste the address and choose “No authentication”.",
    not_from_internet: "It calls servers from the internet, over https. This address cannot be reached from there.",
    one_button: "One button, or one line in a terminal:",
    add_to_program: "Add to",
    terminal_clients: "For the clients that live in a terminal:",
    other_clients: "Any client that speaks MCP over HTTP takes the address. A client that only starts programs:",
    tools: "What it can ask",
    find_nearest: "Machines near a place, nearest first, with status and since when it is known.",
    get_details: "One machine or several: hours, fee, limits, sources, what the law there says.",
    check_status: "How many machines near a place are open, closed or unknown, and which are nearest.",
    list_by_city: "All machines of one city, page by page.",
};
