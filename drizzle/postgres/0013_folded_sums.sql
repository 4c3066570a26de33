CREATE TABLE "folded" (
	"id" bigint PRIMARY KEY NOT NULL,
	"last_row" bigint NOT NULL
);
--> statement-breakpoint
INSERT INTO "folded" ("id", "last_row") VALUES (1, 0);--> statement-breakpoint
DROP INDEX "generations_workspace";