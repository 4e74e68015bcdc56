-- The last attempts of a delivery, as JSON, oldest first: bounded by the program, and gone with their event. A column and no
-- table, so that an attempt ends in one write of one row, as before.
ALTER TABLE deliveries ADD COLUMN past_attempts TEXT;
