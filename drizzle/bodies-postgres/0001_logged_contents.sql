CREATE TABLE "logged_contents" (
	"generation_id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"clear_bytes" bigint NOT NULL,
	"sealed" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE INDEX "logged_contents_expiry" ON "logged_contents" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "logged_contents_workspace" ON "logged_contents" USING btree ("workspace_id");