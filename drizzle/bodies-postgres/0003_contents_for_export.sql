CREATE TABLE "export_contents" (
	"generation_id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"sealed" "bytea"
);
