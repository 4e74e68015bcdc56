-- What is written to see whether anything can be: one row.
CREATE TABLE probe (at BIGINT NOT NULL);
INSERT INTO probe (at) VALUES (0);
