-- Who writes is told by the key: the class that it speaks for, and by which key a memory came.

ALTER TABLE keys ADD COLUMN role TEXT NOT NULL DEFAULT 'user';
ALTER TABLE memories ADD COLUMN via TEXT;
ALTER TABLE tellings ADD COLUMN via TEXT;
