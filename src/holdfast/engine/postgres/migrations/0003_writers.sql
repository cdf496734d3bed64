-- Who writes is told by the key: the class that it speaks for, and by which key a memory came.

ALTER TABLE holdfast.keys ADD COLUMN role text NOT NULL DEFAULT 'user';
ALTER TABLE holdfast.memories ADD COLUMN via text;
ALTER TABLE holdfast.tellings ADD COLUMN via text;
