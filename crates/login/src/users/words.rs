//! The words of generated usernames. They are friendly and easy to type, and no combination is an
//! insult.

/// The first words of usernames.
pub(super) const ADJECTIVES: &[&str] = &[
    "able", "airy", "amber", "azure", "bold", "brave", "breezy", "bright", "brisk", "calm", "candid", "caring",
    "cheery", "clever", "copper", "coral", "cosmic", "crisp", "curious", "dapper", "daring", "deft", "dreamy", "eager",
    "earnest", "famous", "fearless", "fluent", "fresh", "gallant", "gentle", "glad", "gleeful", "golden", "graceful",
    "grand", "happy", "hardy", "hearty", "helpful", "honest", "hopeful", "humble", "ivory", "jaunty", "jolly",
    "jovial", "joyful", "keen", "kind", "lively", "loyal", "lucid", "lucky", "lunar", "mellow", "merry", "mighty",
    "mild", "modest", "neat", "nimble", "noble", "opal", "patient", "peaceful", "placid", "plucky", "polite", "proud",
    "prudent", "quick", "quiet", "rapid", "ready", "regal", "robust", "rosy", "royal", "serene", "silver", "sincere",
    "snug", "solar", "spirited", "steady", "sturdy", "sunny", "swift", "tidy", "tranquil", "trusty", "upbeat",
    "valiant", "velvet", "vivid", "warm", "wise", "witty", "zesty",
];

/// The second words of usernames.
pub(super) const ANIMALS: &[&str] = &[
    "alpaca", "antelope", "avocet", "badger", "bison", "bobcat", "caracal", "caribou", "cheetah", "chipmunk", "condor",
    "crane", "curlew", "dolphin", "dormouse", "eagle", "egret", "eland", "ermine", "falcon", "fennec", "finch",
    "firefly", "flamingo", "fox", "gazelle", "gecko", "giraffe", "hare", "hedgehog", "heron", "hornbill", "ibex",
    "ibis", "impala", "jaguar", "jay", "kestrel", "kiwi", "koala", "kudu", "lapwing", "lark", "lemur", "leopard",
    "lion", "llama", "lynx", "macaw", "mallard", "manatee", "marmot", "marten", "meerkat", "merlin", "mongoose",
    "moose", "narwhal", "nuthatch", "ocelot", "okapi", "oriole", "oryx", "osprey", "otter", "owl", "panda", "pangolin",
    "panther", "parrot", "pelican", "penguin", "pika", "plover", "puffin", "puma", "quokka", "rabbit", "raven",
    "reindeer", "robin", "serval", "sparrow", "squirrel", "starling", "stork", "sunbird", "swan", "tapir", "tern",
    "tiger", "toucan", "turtle", "vicuna", "wagtail", "walrus", "warbler", "wombat", "wren", "zebra",
];
