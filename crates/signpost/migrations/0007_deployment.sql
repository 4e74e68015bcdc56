-- What servers know of themselves and commands are not told: one row.
CREATE TABLE deployment (public_address TEXT);
INSERT INTO deployment (public_address) VALUES (NULL);
