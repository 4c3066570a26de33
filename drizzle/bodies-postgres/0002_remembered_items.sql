CREATE TABLE "remembered_items" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"sealed" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE INDEX "remembered_items_expiry" ON "remembered_items" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "remembered_items_workspace" ON "remembered_items" USING btree ("workspace_id");